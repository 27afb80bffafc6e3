/**
 * How is a vector, a gradient or an affine map taken into the hand?
 *
 * One pad per mounted component. Streamlit calls the default export again whenever what Python sends changes, and its
 * result once, when the component goes away.
 */

import { AffinePad } from "./affine_pad.js";
import { GradientPad } from "./gradient_pad.js";
import { Hold } from "./hold.js";
import { element } from "./svg.js";
import { VectorPad } from "./vector_pad.js";

const KINDS = { vector: VectorPad, gradient: GradientPad, affine: AffinePad };

/** @type {WeakMap<HTMLElement, Pad>} */
const pads = new WeakMap();

class Pad {
  /**
   * @param {HTMLElement} parent
   * @param {keyof KINDS} kind
   */
  constructor(parent, kind) {
    parent.querySelector(".normviz-pad-place")?.remove();
    this.root = document.createElement("div");
    this.root.className = "normviz-pad";
    this.root.setAttribute("role", "group");
    parent.append(this.root);
    this.data = null; // what Streamlit sent last
    this.ended = new AbortController();
    this.drawing = new KINDS[kind](this.root, {
      grab: () => this.hold.grab(),
      move: () => this.move(),
      key: () => this.key(),
      release: () => this.hold.release(),
      signal: this.ended.signal,
    });
    this.hint = element(this.root, "p", "hint");
    this.hold = new Hold({
      take: (data, own) => this.take(data, own),
      value: () => this.drawing.value(),
      same: (a, b) => this.drawing.same(a, b),
      settled: () => this.drawing.settled(),
    });
    this.frame = null;
    this.resizing = new ResizeObserver(() => this.drawing.resize());
    this.resizing.observe(this.root);
  }

  /**
   * @param {object} data what normviz/ui/pad.py sends
   * @param {(value: object) => void} send
   * @returns {() => void} what ends the pad once it has left the page
   */
  update(data, send) {
    this.hold.send = send;
    if (data !== this.data) {
      this.data = data;
      this.hold.offer(data);
    }
    // Streamlit also calls the result of a call that a newer one overtakes, before or after that one, while the pad
    // lives on.
    return () => this.root.isConnected || this.remove();
  }

  take(data, own) {
    for (const [name, colour] of Object.entries(data.colours)) this.root.style.setProperty(`--pad-${name}`, colour);
    this.root.setAttribute("aria-label", data.words.title);
    this.hint.textContent = data.words.hint;
    this.drawing.take(data, own);
  }

  move() {
    this.hold.move();
    this.draw();
  }

  key() {
    this.hold.key();
    this.draw();
  }

  /** Once a frame, however often a pointer reports. */
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.drawing.draw();
    });
  }

  remove() {
    this.removed = true;
    this.ended.abort();
    this.hold.end();
    cancelAnimationFrame(this.frame);
    this.resizing.disconnect();
    this.root.remove();
  }
}

/**
 * @param {{data: object, parentElement: HTMLElement, setTriggerValue: (name: string, value: any) => void}} component
 * @returns {() => void}
 */
export default function pad({ data, parentElement, setTriggerValue }) {
  let held = pads.get(parentElement);
  if (!held || held.removed) {
    held = new Pad(parentElement, data.kind);
    pads.set(parentElement, held);
  }
  return held.update(data, (value) => setTriggerValue("released", value));
}
