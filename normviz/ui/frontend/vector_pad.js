/**
 * A vector to take hold of: its entries as bars and its tip in the plane span{1, x}, which move together.
 */

import { Bars } from "./pad_bars.js";
import { PlaneView } from "./pad_plane.js";
import { same } from "./hold.js";
import { centre, factors, layerNorm, rmsNorm, rootMeanSquare } from "./norms.js";
import { grainOf, stop, words as number } from "./range.js";
import { element } from "./svg.js";

/** A mean below this part of the RMS is what rounding has left of 0. */
const ROUNDING = 1e-12;

export class VectorPad {
  /**
   * @param {HTMLElement} root
   * @param {{grab: () => void, move: () => void, key: () => void, release: () => void}} tell
   */
  constructor(root, tell) {
    this.parts = element(root, "div", "parts");
    const looks = [
      { look: "x", slot: 0, row: true },
      { look: "layer", slot: 1, row: true },
      { look: "rms", slot: 2, row: true },
    ];
    this.bars = new Bars(this.parts, looks, [2, 1, 1], { ...tell, set: (entry, value) => this.setEntry(entry, value) });
    this.plane = new PlaneView(this.parts, { ...tell, set: (mean, std) => this.setTip(mean, std) });
    this.live = element(root, "p", "live");
    this.note = element(root, "p", "note");
    this.x = null; // the entries; null where there are too many
    this.direction = null; // of x - mean, with RMS 1
    this.mean = 0;
    this.std = 0; // negative where x - mean is opposite to the direction
  }

  take(data, own) {
    this.data = data;
    const { words } = data;
    this.bars.describe(words);
    this.plane.describe(words);
    if (!own) this.adopt(data.value);
    this.fit(!own);
    this.draw();
  }

  adopt({ x, mean, std }) {
    this.x = x ? [...x] : null;
    this.bars.root.hidden = !x;
    this.parts.classList.toggle("normviz-pad-both", Boolean(x));
    this.direction = null;
    if (x) {
      this.bars.build(x.length);
      this.std = 0;
      this.measure();
    } else Object.assign(this, { mean, std });
  }

  /** Mean, std and direction after an entry has changed. The frame keeps its orientation. */
  measure() {
    const { mean, centered } = centre(this.x);
    const size = rootMeanSquare(centered);
    const sign = this.std < 0 ? -1 : 1;
    this.mean = mean;
    this.std = sign * size;
    if (size > 0) this.direction = centered.map((value) => value / this.std);
    else this.direction ??= ramp(this.x.length);
  }

  setEntry(entry, value) {
    this.x[entry] = value;
    this.measure();
  }

  /** x moves in the plane: mean' + std' · direction, rounded, so that the link stays short. */
  setTip(mean, std) {
    if (!this.x) {
      Object.assign(this, { mean, std });
      return;
    }
    const grain = grainOf(Math.max(this.bars.reach, Math.abs(mean), Math.abs(std)));
    // A small spread beside a large mean keeps its own digits.
    const fine = std ? Math.min(grain, grainOf(Math.abs(std))) : grain;
    const middle = stop(mean, grain);
    rounded(this.direction, std, fine).forEach((away, entry) => {
      this.x[entry] = stop(middle + away, fine);
    });
    const { mean: reached, centered } = centre(this.x);
    Object.assign(this, { mean: reached, std: (std < 0 ? -1 : 1) * rootMeanSquare(centered) });
  }

  value() {
    return this.x ? { x: [...this.x] } : { mean: this.mean, std: this.std };
  }

  /** Python does not know which way round the frame is. */
  same(a, b) {
    const plain = ({ x, mean, std }) => (x ? { x } : { mean, std: Math.abs(std) });
    return same(plain(a), plain(b));
  }

  outputs() {
    const { weight, bias, eps } = this.data;
    return [layerNorm(this.x, weight, bias, eps), rmsNorm(this.x, weight, eps)];
  }

  fit(afresh) {
    if (this.x) this.bars.fit(Math.max(...[this.x, ...this.outputs()].flat().map(Math.abs)), afresh);
    this.plane.fit(this.mean, this.std, this.data.d, afresh);
  }

  settled() {
    this.fit(false);
    this.draw();
  }

  draw() {
    const { mean, std, data } = this;
    const { words, eps, d } = data;
    if (this.x) this.bars.draw([this.x, ...this.outputs()]);
    this.plane.draw(mean, std, d, eps);
    const rms = Math.hypot(mean, std);
    this.live.textContent = words.live
      .replace("{mean}", number(Math.abs(mean) < ROUNDING * rms ? 0 : mean))
      .replace("{std}", number(Math.abs(std)))
      .replace("{rms}", number(rms));
    const { layer, rms: root } = factors(mean, std, eps);
    const missing = [layer === null && words.names[1], root === null && words.names[2]].filter(Boolean);
    this.note.textContent = missing.map((name) => words.undefined.replace("{name}", name)).join(" ");
  }

  resize() {
    if (this.data) this.draw();
  }
}

/** The direction that a constant vector leaves its axis in: rising from the first entry to the last. */
function ramp(d) {
  const { centered } = centre(Array.from({ length: d }, (_, entry) => entry));
  const size = rootMeanSquare(centered) || 1;
  return centered.map((value) => value / size);
}

/** std · direction in multiples of a grain whose sum is 0: where a hand puts the mean at 0, it is 0. */
function rounded(direction, std, grain) {
  const exact = direction.map((along) => (std * along) / grain);
  const whole = exact.map(Math.round);
  const over = whole.reduce((sum, value) => sum + value, 0);
  const sign = Math.sign(over);
  const byError = [...whole.keys()].sort((a, b) => sign * (whole[b] - exact[b] - whole[a] + exact[a]));
  for (const entry of byError.slice(0, Math.abs(over))) whole[entry] -= sign;
  return whole.map((value) => value * grain);
}
