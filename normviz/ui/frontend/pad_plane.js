/**
 * Where do x, its two parts and both norms lie in the plane span{1, x}, and where does a hand take the tip of x?
 */

import { pointsOf } from "./norms.js";
import { reachOf, stepOf, ticks, words as number } from "./range.js";
import { Arrow, drawing, drawn, element, keepFromScrolling, say, set, show } from "./svg.js";

/** CSS pixels. */
const LEFT = 46;
const RIGHT = 10;
const TOP = 30;
const BELOW = 44;
const NEAR_AXIS = 6; // a tip this near to an axis is put on it
const FINGER = 24;
const LONG = 92; // the longest name
/** The part of the plane below the axis that is shown at least, in units of its reach. */
const DEPTH = 0.45;
const APART = 17;

const KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class PlaneView {
  /**
   * @param {HTMLElement} parent
   * @param {{set: (mean: number, std: number) => void, grab: () => void, move: () => void, key: () => void,
   *   release: () => void}} tell std is negative below the axis
   */
  constructor(parent, tell) {
    this.tell = tell;
    this.root = element(parent, "div", "plane");
    this.title = element(this.root, "div", "plane-title");
    this.svg = drawing(this.root, "drawing");
    const still = drawn(this.svg, "g", { "aria-hidden": "true" });
    this.axes = drawn(still, "g");
    this.circle = drawn(still, "circle", { class: "normviz-pad-circle" });
    this.sides = drawn(still, "path", { class: "normviz-pad-sides" });
    this.leader = drawn(still, "line", { class: "normviz-pad-leader" });
    this.arrows = {
      mean: new Arrow(still, "normviz-pad-arrow-mean", 7),
      centered: new Arrow(still, "normviz-pad-arrow-centered", 7),
      x: new Arrow(still, "normviz-pad-arrow-x", 7),
      layer: new Arrow(still, "normviz-pad-arrow-layer", 3),
      rms: new Arrow(still, "normviz-pad-arrow-rms", 3),
    };
    this.labels = Object.fromEntries(
      Object.keys(this.arrows).map((name) => [name, drawn(still, "text", { class: "normviz-pad-name" })]),
    );
    this.tip = drawn(this.svg, "g", { class: "normviz-pad-tip", role: "application", tabindex: 0 });
    drawn(this.tip, "circle", { class: "normviz-pad-halo", r: 17 });
    drawn(this.tip, "circle", { class: "normviz-pad-knob", r: 9 });
    drawn(this.tip, "circle", { class: "normviz-pad-grip", r: FINGER });
    keepFromScrolling(this.tip);
    this.pointer = null; // what holds the tip: {id, x, y}, with the place in the tip where it does
    this.tip.addEventListener("pointerdown", (event) => this.press(event));
    this.tip.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) this.tip.addEventListener(end, (event) => this.lift(event));
    this.tip.addEventListener("keydown", (event) => this.type(event));
  }

  /** @param {{plane: string, along: string, across: string, tip: string, tips: Record<string, string>}} words */
  describe(words) {
    this.words = words;
    this.title.textContent = words.plane;
    this.svg.setAttribute("aria-label", words.plane);
    this.width = 0;
  }

  /**
   * @param {number} mean
   * @param {number} std
   * @param {number} d
   * @param {boolean} afresh
   */
  fit(mean, std, d, afresh) {
    const radius = Math.sqrt(d);
    const largest = Math.max(radius, radius * Math.abs(mean), radius * Math.abs(std));
    const reach = reachOf(largest, afresh ? undefined : this.reach);
    // Half of the plane is enough while x - mean points up, as it does unless a hand has turned it round.
    const depth = std < 0 ? reach : Math.min(reach, Math.max(1.2 * radius, DEPTH * reach));
    if (reach === this.reach && radius === this.radius && depth === this.depth) return;
    Object.assign(this, { reach, radius, depth, width: 0 });
  }

  /** Distance of the stops of the keys, in units of mean and std. */
  get step() {
    return stepOf(this.reach / this.radius);
  }

  layout() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (!width || (width === this.width && height === this.height)) return;
    [this.width, this.height] = [width, height];
    const [wide, high] = [width - LEFT - RIGHT, height - TOP - BELOW];
    this.scale = Math.min(wide / 2 / this.reach, high / (this.reach + this.depth));
    const top = Math.max(high / 2 / this.scale, this.reach);
    this.middle = [LEFT + wide / 2, TOP + top * this.scale];
    this.ends = [wide / 2 / this.scale, top, high / this.scale - top]; // right, up and down, in units of the plane
    set(this.svg, { viewBox: `0 0 ${width} ${height}` });
    set(this.circle, { cx: this.middle[0], cy: this.middle[1], r: this.radius * this.scale });
    this.drawAxes();
  }

  drawAxes() {
    const { axes, ends } = this;
    const [left, bottom] = this.at([-ends[0], -ends[2]]);
    const [right, top] = this.at([ends[0], ends[1]]);
    axes.replaceChildren();
    const line = (x1, y1, x2, y2, zero) =>
      drawn(axes, "line", { x1, y1, x2, y2, class: zero ? "normviz-pad-zero" : "normviz-pad-grid" });
    const shorter = Math.min(ends[0], ends[1]);
    const most = Math.min(7, Math.floor((2 * shorter * this.scale) / 56));
    for (const value of ticks(shorter, ends[0], most)) {
      const [x] = this.at([value, 0]);
      line(x, top, x, bottom, value === 0);
      drawn(axes, "text", { x, y: bottom + 18, class: "normviz-pad-index" }).textContent = number(value);
    }
    for (const value of ticks(shorter, ends[1], most).filter((one) => one >= -ends[2])) {
      const [, y] = this.at([0, value]);
      line(left, y, right, y, value === 0);
      drawn(axes, "text", { x: left - 8, y: y + 4.5, class: "normviz-pad-tick" }).textContent = number(value);
    }
    const middle = (left + right) / 2;
    drawn(axes, "text", { x: middle, y: bottom + 38, class: "normviz-pad-index" }).textContent = this.words.along;
    drawn(axes, "text", { x: 4, y: 16, class: "normviz-pad-along" }).textContent = this.words.across;
  }

  /** @param {number[]} point of the plane, as a place in the drawing */
  at([x, y]) {
    return [this.middle[0] + x * this.scale, this.middle[1] - y * this.scale];
  }

  /**
   * @param {number} mean
   * @param {number} std negative where the frame's second vector is turned round
   * @param {number} d
   * @param {number} eps
   */
  draw(mean, std, d, eps) {
    Object.assign(this, { mean, std });
    this.layout();
    if (!this.width) return;
    const { x, layerNorm, rmsNorm } = pointsOf(mean, std, d, eps);
    const points = { mean: [x[0], 0], centered: [0, x[1]], x, layer: layerNorm, rms: rmsNorm };
    const origin = this.at([0, 0]);
    const places = {};
    for (const [name, arrow] of Object.entries(this.arrows)) {
      places[name] = points[name] && this.at(points[name]);
      arrow.point(places[name] && origin, places[name]);
    }
    const [right, up] = [Math.sign(x[0]), Math.sign(x[1])];
    const [px, py] = places.x;
    const corner = Math.min(Math.abs(px - origin[0]), Math.abs(py - origin[1])) > 26 ? 11 : 0;
    const square = corner && `M${px - right * corner},${origin[1]}v${-up * corner}h${right * corner}`;
    this.sides.setAttribute("d", `M${px},${origin[1]}V${py}H${origin[0]}${square || ""}`);
    this.name(places, origin);
    set(this.tip, { transform: `translate(${px} ${py})` });
    const text = this.words.tip.replace("{mean}", number(mean)).replace("{std}", number(Math.abs(std)));
    if (this.tip.getAttribute("aria-label") !== text) this.tip.setAttribute("aria-label", text);
  }

  /** Names at the tips: of x beyond it, of RMSNorm(x) beside the ray of x, of the others beside the axes. */
  name(places, [ox, oy]) {
    const [x, y] = [places.x[0] - ox, places.x[1] - oy];
    const length = Math.hypot(x, y) || 1;
    const side = x < 0 ? 1 : -1; // the side of the vertical axis where x is not
    const put = (name, place, dx, dy, anchor) => {
      const label = this.labels[name];
      show(label, Boolean(place));
      if (!place) return;
      say(label, this.words.tips[name]);
      const high = Math.min(this.height - BELOW - 4, Math.max(TOP - 6, place[1] + dy));
      set(label, { x: place[0] + dx, y: high, "text-anchor": anchor });
    };
    const outer = x < 0 ? "end" : "start";
    const crowded = this.width - RIGHT - 12 < places.x[0] || places.x[0] < LEFT + 12;
    const edge = places.x[1] < TOP + 20 || places.x[1] > this.height - BELOW - 24;
    if (crowded) put("x", places.x, 0, y > 0 ? 30 : -20, "middle");
    else if (edge) put("x", places.x, x < 0 ? -18 : 18, 5, outer);
    else put("x", places.x, (20 * x) / length, (22 * y) / length + 5, outer);
    this.nameRms(places, oy, x, y, put);
    const shown = Math.abs(x) > 2;
    put("mean", shown && places.mean, 0, y > 0 ? -14 : 22, "middle");
    const beyond = (place) => (place ? Math.abs(place[1] - oy) : 0);
    const near = places.layer && Math.abs(places.layer[1] - places.centered[1]) < APART;
    const outward = y > 0 ? 1 : -1;
    const push = (name, other) => (near && beyond(places[name]) >= beyond(places[other]) ? 9 : near ? -9 : 0) * outward;
    const shift = push("centered", "layer");
    const beside = side > 0 ? "start" : "end";
    const clear = Math.abs(x) < FINGER ? 22 : 12; // of the knob
    put("centered", Math.abs(y) > 2 && places.centered, clear * side, 5 + shift, beside);
    put("layer", places.layer, 12 * side, 5 - shift, beside);
  }

  /** Between the ray of x and the horizontal axis where there is room, else beyond that axis with a line to it. */
  nameRms({ rms, mean }, oy, x, y, put) {
    const room = rms ? Math.abs(rms[1] - oy) : 0;
    const lower = y > 0 ? -1 : 1; // towards the horizontal axis
    const led = Boolean(rms) && room < 34;
    show(this.leader, led);
    if (!led) {
      put("rms", rms, x < 0 ? -10 : 10, 12 * lower + 5, x < 0 ? "end" : "start");
      return;
    }
    const away = lower * (Math.abs(mean[0] - rms[0]) < LONG && Math.abs(x) > 2 ? 40 : 22);
    put("rms", [rms[0], oy], 0, away + (lower > 0 ? 0 : 8), "middle");
    set(this.leader, { x1: rms[0], y1: rms[1] + 3 * lower, x2: rms[0], y2: oy + away - 13 * lower });
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || this.pointer) return;
    const [x, y] = this.at([this.radius * this.mean, this.radius * this.std]);
    const from = [x - this.middle[0], this.middle[1] - y];
    this.pointer = { id: event.pointerId, x: event.clientX - x, y: event.clientY - y, from };
    this.tip.setPointerCapture(event.pointerId);
    this.tell.grab();
  }

  /** @param {PointerEvent} event */
  drag({ pointerId, clientX, clientY }) {
    if (this.pointer?.id !== pointerId) return;
    // A tip that was near the axis from the start has a small mean or std of its own, which a sideways pull leaves.
    const onAxis = (value, from) => (Math.abs(value) < NEAR_AXIS && Math.abs(from) >= NEAR_AXIS ? 0 : value);
    const x = onAxis(clientX - this.pointer.x - this.middle[0], this.pointer.from[0]);
    const y = onAxis(this.middle[1] - (clientY - this.pointer.y), this.pointer.from[1]);
    this.put(x / this.scale, y / this.scale);
    this.tell.move();
  }

  /** The tip goes to this point of the plane, but not out of the drawing. */
  put(x, y) {
    const [right, top, bottom] = this.ends;
    const inside = (value, low, high) => Math.min(high, Math.max(low, value)) / this.radius;
    this.tell.set(inside(x, -right, right), inside(y, -bottom, top));
  }

  /** @param {PointerEvent} event */
  lift({ pointerId }) {
    if (this.pointer?.id !== pointerId) return;
    this.pointer = null;
    this.tell.release();
  }

  /** @param {KeyboardEvent} event */
  type(event) {
    const way = KEYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const step = this.step * (event.shiftKey ? 10 : 1);
    const [mean, std] = [this.mean + way[0] * step, this.std + way[1] * step];
    this.put(this.radius * mean, this.radius * std);
    Object.assign(this, { mean, std }); // a next key may come before the next frame
    this.tell.key();
  }
}
