/**
 * A gradient to take hold of, and what LayerNorm and RMSNorm hand back of it.
 */

import { Bars } from "./pad_bars.js";
import { same } from "./hold.js";
import { pullback } from "./norms.js";
import { words as number } from "./range.js";
import { element } from "./svg.js";

export class GradientPad {
  /**
   * @param {HTMLElement} root
   * @param {{grab: () => void, move: () => void, key: () => void, release: () => void}} tell
   */
  constructor(root, tell) {
    const looks = [
      { look: "x", slot: 0, row: true },
      { look: "layer", slot: 1, row: true },
      { look: "rms", slot: 2, row: true },
    ];
    const set = (entry, value) => {
      this.gradient[entry] = value;
    };
    this.bars = new Bars(root, looks, [2, 1, 1], { ...tell, set });
    this.live = element(root, "p", "live");
    this.note = element(root, "p", "note");
    this.same = same;
  }

  take(data, own) {
    this.data = data;
    this.bars.describe(data.words);
    if (!own) {
      this.gradient = [...data.value.gradient];
      this.bars.build(this.gradient.length);
    }
    this.fit(!own);
    this.draw();
  }

  value() {
    return { gradient: [...this.gradient] };
  }

  images() {
    const { x, weight, eps } = this.data;
    return ["layer_norm", "rms_norm"].map((norm) => pullback(norm, x, weight, eps, this.gradient));
  }

  fit(afresh) {
    this.bars.fit(Math.max(...[this.gradient, ...this.images()].flat().map(Math.abs)), afresh);
  }

  settled() {
    this.fit(false);
    this.draw();
  }

  draw() {
    const { words } = this.data;
    const shown = [this.gradient, ...this.images()];
    this.bars.draw(shown);
    const lengths = shown.map((values) => (values ? number(Math.hypot(...values)) : "–"));
    this.live.textContent = ["gradient", "layer", "rms"].reduce(
      (text, name, place) => text.replace(`{${name}}`, lengths[place]),
      words.live,
    );
    const missing = words.names.filter((_, place) => !shown[place]);
    this.note.textContent = missing.map((name) => words.undefined.replace("{name}", name)).join(" ");
  }

  resize() {
    if (this.data) this.draw();
  }
}
