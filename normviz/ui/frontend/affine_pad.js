/**
 * x becomes a x + b under a hand: which of LN and RMSNorm notices?
 */

import { Bars } from "./pad_bars.js";
import { same } from "./hold.js";
import { factors, layerNorm, rmsNorm } from "./norms.js";
import { tidy, words as number } from "./range.js";
import { element } from "./svg.js";

/** Outputs closer than this, in units of the largest, are the same. */
const EQUAL = 1e-9;

export class AffinePad {
  /**
   * @param {HTMLElement} root
   * @param {{grab: () => void, move: () => void, key: () => void, release: () => void, signal: AbortSignal}} tell
   */
  constructor(root, tell) {
    const knobs = element(root, "div", "knobs");
    this.knobs = Object.fromEntries(["scale", "shift"].map((name) => [name, this.knob(knobs, name, tell)]));
    this.bars = new Bars(
      root,
      [
        { look: "layer", slot: 0 },
        { look: "rms", slot: 1 },
        { look: "before", slot: 0 },
        { look: "before", slot: 1 },
      ],
      [1, 1],
      null,
    );
    this.lines = { layer: element(root, "p", "live"), rms: element(root, "p", "live") };
    this.pressed = false; // whether a pointer holds a knob
    this.same = same;
    // A pointer may be let go outside of the knob, where it was.
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(end, () => this.pressed && setTimeout(() => this.lift(tell)), {
        signal: tell.signal,
        capture: true,
      });
    }
  }

  knob(parent, name, tell) {
    const label = element(parent, "label", "knob");
    const text = element(label, "span", "knob-text");
    const input = element(label, "input", "range");
    input.type = "range";
    input.addEventListener("pointerdown", () => {
      this.pressed = true;
      tell.grab();
    });
    input.addEventListener("input", () => {
      this[name] = tidy(Number(input.value));
      if (this.pressed) tell.move();
      else tell.key();
    });
    return { text, input };
  }

  lift(tell) {
    this.pressed = false;
    tell.release();
  }

  take(data, own) {
    this.data = data;
    const { words, limits, x } = data;
    this.bars.describe(words);
    for (const [name, { input }] of Object.entries(this.knobs)) {
      const { low, high, step } = limits[name];
      Object.assign(input, { min: low, max: high, step });
    }
    if (!own) Object.assign(this, data.value);
    this.bars.root.hidden = !x;
    if (x) {
      this.bars.build(x.length);
      this.before = outputs(data, 1, 0);
    }
    this.fit(!own);
    this.draw();
  }

  value() {
    return { scale: this.scale, shift: this.shift };
  }

  fit(afresh) {
    if (!this.data.x) return;
    const shown = [...this.before, ...outputs(this.data, this.scale, this.shift)];
    this.bars.fit(Math.max(...shown.flat().map(Math.abs)), afresh);
  }

  settled() {
    this.fit(false);
    this.draw();
  }

  draw() {
    const { data, scale, shift, knobs } = this;
    for (const [name, { text, input }] of Object.entries(knobs)) {
      text.textContent = data.words[name].replace("{value}", number(this[name]));
      if (Number(input.value) !== this[name]) input.value = this[name];
    }
    if (data.x) this.bars.draw([...outputs(data, scale, shift), ...this.before]);
    const moves = data.x ? this.moves() : this.longMoves();
    ["layer", "rms"].forEach((norm, place) => {
      const move = moves[place];
      const line = move && data.words[move.verdict].replace("{moved}", number(move.by, 3));
      this.lines[norm].textContent = line ? line.replace("{name}", data.words.names[place]) : "";
    });
  }

  /** How far each output has moved, entry by entry. */
  moves() {
    const { data, scale, shift, before } = this;
    const after = outputs(data, scale, shift);
    const bare = { ...data, weight: null, bias: null };
    const [was, is] = [outputs(bare, 1, 0), outputs(bare, scale, shift)];
    return before.map((old, place) => {
      if (!old || !after[place]) return { verdict: "undefined", by: 0 };
      return judged(old, after[place], was[place], is[place]);
    });
  }

  /**
   * The same for a long vector, from its mean, std and ends: LN moves by the change of its factor times the largest
   * |weight · (x - mean)|; RMSNorm without a weight is linear in x, so that it moves most at an end of x.
   */
  longMoves() {
    const { data, scale, shift } = this;
    const { mean, std, low, high, gain, reach } = data.long;
    const was = factors(mean, std, data.eps);
    const is = factors(scale * mean + shift, Math.abs(scale) * std, data.eps);
    return ["layer", "rms"].map((norm) => {
      if (was[norm] === null || is[norm] === null) return { verdict: "undefined", by: 0 };
      if (norm === "layer") return judged([was.layer * reach], [scale * is.layer * reach]);
      if (gain === null) return null;
      const now = [low, high].map((value) => gain * is.rms * (scale * value + shift));
      return judged([low, high].map((value) => gain * was.rms * value), now);
    });
  }

  resize() {
    if (this.data) this.draw();
  }
}

const largest = (values) => Math.max(...values.map(Math.abs));

/** LN and RMSNorm of a x + b. */
function outputs({ x, weight, bias, eps }, scale, shift) {
  const moved = x.map((value) => scale * value + shift);
  return [layerNorm(moved, weight, bias, eps), rmsNorm(moved, weight, eps)];
}

/** What has become of an output; `was` and `is` are the outputs before weight and bias. */
function judged(old, now, was = old, is = now) {
  const by = largest(old.map((value, i) => now[i] - value));
  if (by <= EQUAL * Math.max(largest(old), largest(now))) return { verdict: "unmoved", by };
  const sum = largest(was.map((value, i) => value + is[i]));
  return { verdict: sum <= EQUAL * largest(was) ? "flipped" : "moved", by };
}
