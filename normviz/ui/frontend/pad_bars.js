/**
 * How do the entries of a vector stand side by side as bars, one kind of them to drag up and down?
 */

import { fitted, reachOf, stepOf, stop, ticks, words as number } from "./range.js";
import { drawing, drawn, element, keepFromScrolling, say, set, show } from "./svg.js";

/** CSS pixels. */
const TOP = 12;
const SIDE = 8;
const NARROW = 420; // a drawing narrower than this has no names beside the rows of numbers
const LETTER = 7.2;
const ROW = 19;
const HANDLE = 22;
/** Of the end of a bar: a press this near keeps its distance, one further away takes the end there. */
const NEAR = 14;
const FINGER = 24;
/** A finger that travelled further than this has scrolled and not tapped. */
const TAP = 8;

const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };

let patterns = 0;

export class Bars {
  /**
   * @param {HTMLElement} parent
   * @param {{look: string, slot: number, row: boolean}[]} series what stands in each column: the look names its colours
   * @param {number[]} slots widths of the places in a column, in shares
   * @param {{set: (entry: number, value: number) => void, grab: () => void, move: () => void, key: () => void,
   *   release: () => void} | null} tell null for bars that are only looked at; else the first series is dragged
   */
  constructor(parent, series, slots, tell) {
    this.series = series;
    this.tell = tell;
    const total = slots.reduce((sum, width) => sum + width, 0);
    this.slots = slots.map((width, i) => ({
      start: slots.slice(0, i).reduce((sum, before) => sum + before, 0) / total,
      width: width / total,
    }));
    this.root = element(parent, "div", "bars");
    this.legend = element(this.root, "div", "legend");
    this.svg = drawing(this.root, "drawing");
    patterns += 1;
    this.hatch = `normviz-pad-hatch-${patterns}`;
    const pattern = drawn(drawn(this.svg, "defs"), "pattern", {
      id: this.hatch,
      width: 5,
      height: 5,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    });
    drawn(pattern, "rect", { width: 5, height: 5, class: "normviz-pad-hatch-ground" });
    drawn(pattern, "rect", { width: 2, height: 5, class: "normviz-pad-hatch-line" });
    this.axis = drawn(this.svg, "g", { "aria-hidden": "true" });
    this.body = drawn(this.svg, "g");
    this.zero = drawn(this.svg, "line", { class: "normviz-pad-zero" });
    this.heads = series.map(() => drawn(this.svg, "text", { class: "normviz-pad-head", "aria-hidden": "true" }));
    this.columns = [];
    this.values = [];
    this.pointer = null; // what holds a bar: {id, entry, offset, tap}
  }

  /** @param {{title: string, names: string[], entry: string}} words names of the series; entry has {i} */
  describe(words) {
    this.words = words;
    this.svg.setAttribute("aria-label", words.title);
    this.legend.replaceChildren();
    this.series.forEach(({ look }, place) => {
      if (!words.names[place]) return;
      const item = element(this.legend, "span", "legend-item");
      const swatch = drawn(item, "svg", { class: "normviz-pad-swatch", "aria-hidden": "true" });
      drawn(swatch, "rect", { x: 1, y: 1, width: 14, height: 10, ...this.look(look) });
      item.append(words.names[place]);
    });
  }

  look(look) {
    return { class: `normviz-pad-${look}`, ...(look === "rms" && { fill: `url(#${this.hatch})` }) };
  }

  /** Make room for so many columns. */
  build(count) {
    if (count === this.columns.length) return;
    this.pointer = null;
    this.body.replaceChildren();
    this.columns = Array.from({ length: count }, (_, entry) => this.column(entry));
    this.width = 0; // everything has to be laid out
  }

  column(entry) {
    const group = drawn(this.body, "g", { class: "normviz-pad-column" });
    const column = {
      group,
      ground: drawn(group, "rect", { class: "normviz-pad-ground", rx: 6 }),
      bars: this.series.map(({ look }) => drawn(group, "rect", this.look(look))),
      label: drawn(group, "text", { class: "normviz-pad-index" }),
      rows: this.series.map(({ look }) => drawn(group, "text", { class: `normviz-pad-row normviz-pad-row-${look}` })),
    };
    if (!this.tell) return column;
    column.handle = drawn(group, "rect", { class: "normviz-pad-handle", rx: 3, height: 6 });
    column.grip = drawn(group, "rect", { class: "normviz-pad-grip" });
    keepFromScrolling(column.grip);
    set(group, { role: "slider", tabindex: 0, "aria-orientation": "vertical" });
    group.addEventListener("pointerdown", (event) => this.press(event, entry));
    group.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) group.addEventListener(end, (event) => this.lift(event));
    group.addEventListener("keydown", (event) => this.type(event, entry));
    return column;
  }

  /**
   * A range that shows these numbers well; the one on the page stays if it does.
   *
   * @param {number} largest
   * @param {boolean} afresh
   */
  fit(largest, afresh) {
    const reach = reachOf(largest, afresh ? undefined : this.reach);
    if (reach === this.reach) return;
    this.reach = reach;
    this.step = stepOf(reach);
    this.width = 0;
  }

  /** Where everything stands that a drag does not move. */
  layout() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (!width || (width === this.width && height === this.height)) return;
    [this.width, this.height] = [width, height];
    const wide = width >= NARROW;
    const rows = this.series.map(({ row }, place) => row && (wide || place === 0));
    this.left = 46;
    if (wide) {
      const longest = Math.max(...rows.map((row, place) => (row ? this.words.names[place].length : 0)));
      this.left = Math.max(this.left, 12 + LETTER * longest);
    }
    this.pitch = (width - this.left - SIDE) / this.columns.length;
    this.rows = rows.map((row) => row && this.pitch >= (wide ? 46 : 34));
    const below = ROW * (1 + this.rows.filter(Boolean).length) + 8;
    this.bottom = height - below;
    this.middle = (TOP + this.bottom) / 2;
    this.scale = (this.bottom - TOP) / 2 / this.reach;
    set(this.svg, { viewBox: `0 0 ${width} ${height}` });
    this.drawAxis();
    this.columns.forEach((column, entry) => this.place(column, entry));
    let row = 1;
    this.heads.forEach((head, place) => {
      show(head, wide && this.rows[place]);
      if (!this.rows[place]) return;
      say(head, this.words.names[place]);
      set(head, { x: this.left - 8, y: this.bottom + ROW * (row += 1) });
    });
  }

  drawAxis() {
    this.axis.replaceChildren();
    const right = this.width - SIDE;
    for (const value of ticks(this.reach)) {
      const y = this.middle - value * this.scale;
      if (value) drawn(this.axis, "line", { x1: this.left, x2: right, y1: y, y2: y, class: "normviz-pad-grid" });
      const label = drawn(this.axis, "text", { x: this.left - 8, y: y + 4.5, class: "normviz-pad-tick" });
      label.textContent = number(value);
    }
    set(this.zero, { x1: this.left, x2: right, y1: this.middle, y2: this.middle });
  }

  /** @param {number} entry of a column that gets its place */
  place(column, entry) {
    const { pitch } = this;
    const start = this.left + entry * pitch;
    const inner = pitch * (pitch > 30 ? 0.78 : 0.88);
    const gap = pitch > 30 ? 2 : 0.5;
    set(column.ground, { x: start + 1, y: 2, width: Math.max(1, pitch - 2), height: this.height - 4 });
    this.series.forEach(({ slot }, place) => {
      const { start: from, width } = this.slots[slot];
      const x = start + (pitch - inner) / 2 + from * inner;
      set(column.bars[place], { x: x + gap / 2, width: Math.max(1, width * inner - gap) });
    });
    const every = Math.ceil((LETTER * (1 + String(this.columns.length).length)) / pitch);
    set(column.label, { x: start + pitch / 2, y: this.bottom + ROW - 2 });
    show(column.label, entry % every === 0);
    say(column.label, String(entry + 1));
    let row = 1;
    column.rows.forEach((text, place) => {
      show(text, this.rows[place]);
      if (this.rows[place]) set(text, { x: start + pitch / 2, y: this.bottom + ROW * (row += 1) });
    });
    if (!this.tell) return;
    set(column.label, { "aria-hidden": "true" });
    const x = Number(column.bars[0].getAttribute("x")) + Number(column.bars[0].getAttribute("width")) / 2;
    const width = Math.min(HANDLE, Math.max(8, this.slots[0].width * inner));
    set(column.handle, { x: x - width / 2, width });
    set(column.grip, { x: start, width: pitch });
  }

  /** @param {(number[] | null)[]} values of each series; null is left out */
  draw(values) {
    this.values = values;
    this.layout();
    if (!this.width) return; // in a closed tab, say
    const letters = Math.floor(this.pitch / LETTER);
    const far = this.bottom - TOP;
    this.columns.forEach((column, entry) => {
      values.forEach((series, place) => {
        show(column.bars[place], series !== null);
        if (series) {
          const long = Math.min(far / 2, Math.abs(series[entry]) * this.scale);
          const y = series[entry] > 0 ? this.middle - long : this.middle;
          set(column.bars[place], long < 1 ? { y: this.middle - 1, height: 2 } : { y, height: long });
        }
        if (this.rows[place]) say(column.rows[place], series ? fitted(series[entry], letters) : "–");
      });
      if (this.tell) this.drawHandle(column, entry, values[0][entry]);
    });
  }

  drawHandle(column, entry, value) {
    const end = this.end(entry);
    set(column.handle, { y: end - 3 });
    const [top, bottom] = [Math.min(end, this.middle) - FINGER, Math.max(end, this.middle) + FINGER];
    set(column.grip, { y: Math.max(0, top), height: Math.min(this.bottom, bottom) - Math.max(0, top) });
    const { group } = column;
    const text = number(value, 6);
    if (group.getAttribute("aria-valuetext") === text && column.named === this.words && column.reach === this.reach) {
      return;
    }
    Object.assign(column, { named: this.words, reach: this.reach });
    set(group, {
      "aria-label": this.words.entry.replace("{i}", entry + 1),
      "aria-valuenow": value,
      "aria-valuetext": text,
      "aria-valuemin": Math.min(value, -this.reach),
      "aria-valuemax": Math.max(value, this.reach),
    });
  }

  /** Height of the end of a dragged bar, in the drawing. */
  end(entry) {
    const value = Math.max(-this.reach, Math.min(this.reach, this.values[0][entry]));
    return this.middle - value * this.scale;
  }

  /** @param {PointerEvent} event */
  press(event, entry) {
    if (event.button !== 0 || this.pointer) return;
    const column = this.columns[entry];
    const { pointerId: id, clientX: x, clientY: y } = event;
    const tap = event.pointerType === "touch" && event.target !== column.grip;
    this.pointer = { id, entry, offset: 0, tap: tap && { x, y } };
    if (tap) return; // it may become a scroll of the page
    column.group.setPointerCapture(id);
    this.tell.grab();
    const away = y - this.svg.getBoundingClientRect().top - this.end(entry);
    if (Math.abs(away) <= NEAR) this.pointer.offset = away;
    else this.put(y);
  }

  /** @param {PointerEvent} event */
  drag({ pointerId, clientY }) {
    if (this.pointer?.id === pointerId && !this.pointer.tap) this.put(clientY);
  }

  /** @param {PointerEvent} event */
  lift({ type, pointerId, clientX, clientY }) {
    if (this.pointer?.id !== pointerId) return;
    const { tap } = this.pointer;
    if (tap && type === "pointerup" && Math.hypot(clientX - tap.x, clientY - tap.y) <= TAP) this.put(clientY);
    this.pointer = null;
    this.tell.release();
  }

  /** The end of the held bar goes to this height of the window. */
  put(clientY) {
    const { entry, offset } = this.pointer;
    const y = clientY - offset - this.svg.getBoundingClientRect().top;
    if (this.set(entry, (this.middle - y) / this.scale)) this.tell.move();
  }

  /** @param {KeyboardEvent} event */
  type(event, entry) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = KEYS[event.key] * (event.shiftKey && event.key.startsWith("Arrow") ? 10 : 1);
    const ends = { Home: -this.reach, End: this.reach };
    if (!(event.key in ends) && !steps) return;
    event.preventDefault();
    if (this.set(entry, ends[event.key] ?? this.values[0][entry] + steps * this.step)) this.tell.key();
  }

  /** @returns {boolean} whether the bar has moved */
  set(entry, value) {
    const next = stop(value, this.step, this.reach);
    if (next === this.values[0][entry]) return false;
    this.tell.set(entry, next);
    return true;
  }
}
