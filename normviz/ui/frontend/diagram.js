/**
 * How are wirings shown side by side, and what passes through all of them at once?
 *
 * One group of drawings per mounted component. Streamlit calls the default export again whenever what Python sends
 * changes, and its result once, when the component goes away.
 */

import { Card } from "./diagram_card.js";
import { Motion } from "./diagram_motion.js";
import { made, View } from "./diagram_view.js";

const GAP = 28; // CSS pixels between two drawings
const LARGEST = 1.3; // times the size of the layout
const PHONE = 520; // CSS pixels of width in which one drawing stands alone

/** @type {WeakMap<HTMLElement, Diagrams>} */
const groups = new WeakMap();

class Diagrams {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    parent.querySelector(".normviz-diagram-place")?.remove();
    this.root = made(parent, "div", "normviz-diagram");
    this.ended = new AbortController();
    this.motion = new Motion(this.root);
    this.key = made(this.root, "p", "normviz-diagram-key");
    this.row = made(this.root, "div", "normviz-diagram-row");
    this.hint = made(this.root, "p", "normviz-diagram-hint");
    this.card = new Card(this.root, this.ended.signal);
    this.views = [];
    this.sent = "";
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.root);
  }

  /** @param {object} data what normviz/ui/diagram.py sends */
  update(data) {
    const sent = JSON.stringify(data);
    if (sent !== this.sent) {
      this.sent = sent;
      this.draw(data);
    }
    // Streamlit also calls the result of a call that a newer one overtakes, before or after that one, while the group
    // lives on.
    return () => this.root.isConnected || this.remove();
  }

  draw({ diagrams, colours, font, words }) {
    for (const [name, colour] of Object.entries(colours)) this.root.style.setProperty(`--diagram-${name}`, colour);
    this.key.textContent = words.key;
    this.hint.textContent = words.hint;
    this.card.close();
    this.card.describe(words);
    const held = this.views.findIndex((view) => view.root.contains(view.root.getRootNode().activeElement));
    const opened = new Set(this.views.filter((view) => view.listed).map((view) => view.diagram.name));
    this.row.replaceChildren();
    this.views = diagrams.map((diagram) => new View(this.row, diagram, { colours, font, words, card: this.card }));
    for (const view of this.views) if (opened.has(view.diagram.name)) view.toggleList();
    if (held >= 0) this.views[Math.min(held, this.views.length - 1)].focus();
    this.width = 0;
    this.resize();
    this.motion.take(this.views, words);
  }

  /** One scale for all drawings where they fit side by side, so that like boxes look alike. */
  resize() {
    const { clientWidth: width } = this.root;
    if (!width || width === this.width) return;
    this.width = width;
    this.card.close();
    const sizes = this.views.map((view) => view.diagram.size[0]);
    const sum = sizes.reduce((a, b) => a + b, 0);
    const beside = (width - GAP * (sizes.length - 1)) / sum;
    const scale = width < PHONE ? LARGEST : Math.min(LARGEST, Math.max(1, beside));
    this.root.classList.toggle("normviz-diagram-narrow", width < PHONE);
    for (const view of this.views) view.scale(Math.min(scale, width / view.diagram.size[0]));
  }

  remove() {
    this.removed = true;
    this.ended.abort();
    this.motion.end();
    this.resizing.disconnect();
    this.root.remove();
  }
}

/**
 * @param {{data: object, parentElement: HTMLElement}} component
 * @returns {() => void}
 */
export default function diagram({ data, parentElement }) {
  let group = groups.get(parentElement);
  if (!group || group.removed) {
    group = new Diagrams(parentElement);
    groups.set(parentElement, group);
  }
  return group.update(data);
}
