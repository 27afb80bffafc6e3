/**
 * How is one wiring drawn, and what stands around it? Title, tools and the list of its boxes.
 */

import { saveDiagram } from "./diagram_save.js";
import { drawn, set } from "./svg.js";

const CODE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace";
const STREAM = 8; // CSS pixels: the identity path, seen from the back of a hall
const WIRE = 2.5;
const CORNER = 9;
const HEAD = 9;

const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

/**
 * A new element of the page.
 *
 * @param {Element} parent
 * @param {string} tag
 * @param {string} name of its class
 * @returns {HTMLElement}
 */
export function made(parent, tag, name) {
  const element = document.createElement(tag);
  element.className = name;
  parent.append(element);
  return element;
}

/** A path through corners, rounded. */
export function pathThrough(points) {
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length - 1; i += 1) {
    const [before, corner, after] = [points[i - 1], points[i], points[i + 1]];
    path += `L${towards(corner, before)}Q${corner} ${towards(corner, after)}`;
  }
  return `${path}L${points.at(-1)}`;
}

function towards([x, y], [toX, toY]) {
  const length = Math.hypot(toX - x, toY - y) || 1;
  const share = Math.min(CORNER, length / 2) / length;
  return [x + (toX - x) * share, y + (toY - y) * share];
}

export class View {
  /**
   * @param {Element} parent
   * @param {any} diagram as in normviz/figures/placements/diagram.py
   * @param {{colours: Record<string, string>, font: string, words: any, card: import("./diagram_card.js").Card}} with_
   */
  constructor(parent, diagram, { colours, font, words, card }) {
    Object.assign(this, { diagram, colours, card, listed: false });
    this.root = made(parent, "figure", "normviz-diagram-figure");
    this.root.style.setProperty("--diagram-color", diagram.color);
    made(this.root, "figcaption", "normviz-diagram-title").textContent = diagram.title;
    this.svg = drawn(this.root, "svg", { class: "normviz-diagram-drawing", role: "group", "aria-label": diagram.alt });
    set(this.svg, { viewBox: `0 0 ${diagram.size.join(" ")}`, "font-family": font });
    this.drawFrame();
    const ground = drawn(this.svg, "g", { "aria-hidden": "true", class: "normviz-diagram-wires" });
    this.pulses = drawn(this.svg, "g", { "aria-hidden": "true", class: "normviz-diagram-pulses" });
    const rows = Object.fromEntries(diagram.boxes.map((box) => [box.id, box.row]));
    // The stream lies on top of the wires that leave it.
    const wires = [...diagram.wires].sort((a, b) => a.identity - b.identity);
    this.wires = wires.map((wire) => this.drawWire(ground, wire, rows));
    this.boxes = diagram.boxes.map((box) => this.drawBox(box, words));
    this.dots = drawn(this.svg, "g", { "aria-hidden": "true", class: "normviz-diagram-dots" });
    this.steps = Math.max(...Object.values(rows));
    this.boxes[0].group.tabIndex = 0;
    this.svg.addEventListener("keydown", (event) => this.type(event));
    this.addTools(diagram.words);
    this.list = made(this.root, "ol", "normviz-diagram-list");
    this.list.hidden = true;
    this.list.setAttribute("aria-label", diagram.words.listed);
  }

  drawFrame() {
    const { frame, note, note_at: at } = this.diagram;
    const [x, y, width, height] = frame;
    const { panel, grid, muted } = this.colours;
    const still = drawn(this.svg, "g", { "aria-hidden": "true" });
    drawn(still, "rect", { x, y, width, height, rx: 14, fill: panel, stroke: grid, "stroke-width": 1.5 });
    const word = { x: at[0], y: at[1], "text-anchor": "end", fill: muted, "font-size": 16 };
    drawn(still, "text", word).textContent = note;
  }

  drawWire(parent, wire, rows) {
    const { color } = this.diagram;
    const ink = wire.identity ? color : this.colours.muted;
    const width = wire.identity ? STREAM : WIRE;
    const points = wire.points.map(([x, y]) => [x, y]);
    const [[ax, ay], [bx, by]] = points.slice(-2);
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const path = pathThrough(wire.identity ? points : [...points.slice(0, -1), [bx - ux * 4, by - uy * 4]]);
    const look = { d: path, fill: "none", stroke: ink, "stroke-width": width };
    const line = drawn(parent, "path", look);
    if (!wire.identity) {
      const [backX, backY] = [bx - ux * HEAD, by - uy * HEAD];
      const half = HEAD * 0.55;
      const sides = `${backX - uy * half},${backY + ux * half}L${backX + uy * half},${backY - ux * half}`;
      drawn(parent, "path", { d: `M${bx},${by}L${sides}Z`, fill: ink });
    }
    const stroke = wire.identity ? color : this.colours.ink;
    const pulse = drawn(this.pulses, "path", { ...look, stroke, "stroke-width": width, pathLength: 1 });
    return { line, pulse, from: rows[wire.start], to: rows[wire.end], identity: wire.identity };
  }

  drawBox(box, words) {
    const said = [box.name, box.formula, box.module && `${words.module} ${box.module}`, box.gradient];
    const group = drawn(this.svg, "g", {
      class: "normviz-diagram-box",
      role: "button",
      tabindex: -1,
      "aria-label": said.filter(Boolean).join(" · "),
      "aria-expanded": "false",
      "data-id": box.id,
      "data-kind": box.kind,
    });
    this.shape(group, box);
    const grip = Math.max(0, (44 - Math.min(box.w, box.h)) / 2) * (box.inside ? 0 : 0.5);
    const size = { x: box.x - grip, y: box.y - grip, width: box.w + 2 * grip, height: box.h + 2 * grip };
    drawn(group, "rect", { ...size, rx: 8, fill: "transparent", class: "normviz-diagram-grip" });
    const one = { box, group };
    group.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.card.point(one));
    group.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.card.leave(one));
    group.addEventListener("click", () => this.press(one));
    group.addEventListener("focus", () => group.matches(":focus-visible") && this.card.point(one));
    group.addEventListener("blur", () => this.card.leave(one));
    return one;
  }

  shape(group, box) {
    const { x, y, w: width, h: height, kind } = box;
    const { ink, muted, paper } = this.colours;
    const { color, on_color: onColor } = this.diagram;
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    const plain = { x, y, width, height, fill: paper, stroke: ink, "stroke-width": 2 };
    const marked = kind === "norm" && box.on_identity_path && !box.outside;
    if (kind === "point") {
      const ring = { cx: middleX, cy: middleY, r: width / 2, fill: paper, stroke: color, "stroke-width": 4 };
      drawn(group, "circle", ring);
      const second = box.id.startsWith("second");
      const word = { x: second ? x + width + 7 : x - 7, y: middleY + 6, "text-anchor": second ? "start" : "end" };
      const text = drawn(group, "text", { ...word, fill: ink, "font-size": 18, "font-style": "italic" });
      text.textContent = box.lines[0];
    } else if (kind === "add") {
      drawn(group, "circle", { cx: middleX, cy: middleY, r: width / 2, fill: paper, stroke: ink, "stroke-width": 2 });
      const arm = width / 4;
      const cross = `M${middleX - arm},${middleY}h${2 * arm}M${middleX},${middleY - arm}v${2 * arm}`;
      drawn(group, "path", { d: cross, stroke: ink, "stroke-width": 2.5, fill: "none" });
    } else if (kind === "end") {
      this.write(group, box, { fill: muted, "font-size": 16 });
    } else if (kind === "sublayer") {
      drawn(group, "rect", { ...plain, rx: 14 });
      this.write(group, box, { fill: ink, "font-size": 17, "font-weight": 600 });
    } else if (kind === "norm") {
      const fill = marked ? color : paper;
      const edge = marked ? ink : box.outside ? color : ink;
      const wide = marked ? 3.5 : box.inside ? 1.5 : 2.5;
      drawn(group, "rect", { ...plain, fill, stroke: edge, "stroke-width": wide, rx: 4 });
      const size = marked ? 22 : box.inside ? 14 : 18;
      this.write(group, box, { fill: marked ? onColor : ink, "font-size": size, "font-weight": 700 });
    } else {
      drawn(group, "rect", { ...plain, rx: height / 2 });
      this.write(group, box, { fill: ink, "font-size": 16 });
    }
  }

  write(group, box, look) {
    const size = box.code ? 13 : look["font-size"];
    const step = box.code ? 17 : size * 1.25;
    const more = box.code ? { "font-family": CODE, "font-size": size, "font-weight": 600 } : {};
    box.lines.forEach((line, i) => {
      const y = box.words + (i - (box.lines.length - 1) / 2) * step + size * 0.35;
      const text = drawn(group, "text", { ...look, ...more, x: box.x + box.w / 2, y, "text-anchor": "middle" });
      text.textContent = line;
    });
  }

  /** A press keeps the card open; another one closes it. */
  press(one) {
    this.hold(one);
    this.card.press(one);
  }

  hold(one) {
    for (const { group } of this.boxes) group.tabIndex = group === one.group ? 0 : -1;
  }

  focus() {
    this.boxes.find(({ group }) => group.tabIndex === 0)?.group.focus();
  }

  /** @param {KeyboardEvent} event */
  type(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = this.boxes.findIndex(({ group }) => group === event.target);
    if (now < 0) return;
    if (event.key === "Enter" || event.key === " ") this.press(this.boxes[now]);
    else if (event.key in KEYS) {
      const next = Math.min(this.boxes.length - 1, Math.max(0, now + KEYS[event.key]));
      this.hold(this.boxes[next]);
      this.focus();
    } else return;
    event.preventDefault();
  }

  addTools(words) {
    const tools = made(this.root, "div", "normviz-diagram-tools");
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", words.tools);
    const button = (text, action, label) => {
      const one = made(tools, "button", "normviz-diagram-button");
      one.type = "button";
      one.textContent = text;
      if (label) one.setAttribute("aria-label", label);
      if (label) one.title = label;
      one.addEventListener("click", action);
      return one;
    };
    this.lister = button(words.list, () => this.toggleList());
    this.lister.setAttribute("aria-expanded", "false");
    button("PNG", () => saveDiagram(this, "png"), words.png);
    button("SVG", () => saveDiagram(this, "svg"), words.svg);
  }

  toggleList() {
    this.listed = !this.listed;
    this.list.hidden = !this.listed;
    this.root.classList.toggle("normviz-diagram-listed", this.listed);
    this.lister.setAttribute("aria-expanded", String(this.listed));
    this.list.replaceChildren();
    if (!this.listed) return;
    for (const { name, formula, module, gradient } of this.diagram.boxes) {
      const item = made(this.list, "li", "normviz-diagram-item");
      made(item, "strong", "normviz-diagram-name").textContent = name;
      if (formula) made(item, "span", "normviz-diagram-formula").textContent = formula;
      if (module) made(item, "code", "normviz-diagram-module").textContent = module;
      if (gradient) made(item, "span", "normviz-diagram-gradient").textContent = gradient;
    }
  }

  /** @param {number} scale CSS pixels to a pixel of the layout */
  scale(scale) {
    const [width, height] = this.diagram.size;
    this.root.style.width = `${width * scale}px`;
    set(this.svg, { width: width * scale, height: height * scale });
  }
}
