/**
 * How does a signal travel up the wires, and a gradient down?
 *
 * Time is the row of a box: what meets in an addition arrives there together. Where a reader asks for less motion, and
 * wherever a lecturer wants to talk, it goes in steps.
 */

import { made } from "./diagram_view.js";
import { drawn, set } from "./svg.js";

const PACE = 1.4; // rows in a second
const REST = 1.2; // seconds at the end

export class Motion {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = made(parent, "div", "normviz-diagram-motion");
    this.root.setAttribute("role", "group");
    this.buttons = Object.fromEntries(
      ["forward", "backward", "step"].map((name) => {
        const button = made(this.root, "button", "normviz-diagram-button");
        button.type = "button";
        button.addEventListener("click", () => (name === "step" ? this.step() : this.turn(name)));
        return [name, button];
      }),
    );
    this.status = made(this.root, "span", "normviz-diagram-status");
    this.status.setAttribute("role", "status");
    Object.assign(this, { views: [], way: null, time: 0, frame: null });
  }

  /** @param {any[]} views the drawings now @param {any} words */
  take(views, words) {
    Object.assign(this, { views, words });
    this.root.setAttribute("aria-label", words.motion);
    for (const [name, button] of Object.entries(this.buttons)) button.textContent = words[name];
    this.steps = Math.max(...views.map((view) => view.steps));
    for (const view of views) {
      for (const wire of view.wires) {
        const r = wire.identity ? 8 : 5;
        const fill = wire.identity ? view.diagram.color : view.colours.ink;
        wire.dot = drawn(view.dots, "circle", { r, fill, stroke: view.colours.paper, "stroke-width": 2 });
        wire.length = wire.pulse.getTotalLength();
      }
    }
    this.time = Math.min(this.time, this.steps);
    this.tell();
    this.draw();
  }

  /** @param {"forward" | "backward"} way the one that is on is switched off */
  turn(way) {
    this.way = this.way === way ? null : way;
    this.time = 0;
    this.stop();
    if (this.way && matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.step();
      return;
    }
    if (this.way) this.go();
    this.tell();
    this.draw();
  }

  step() {
    this.stop();
    const next = Math.floor(this.time + 1e-9) + 1;
    this.time = next > this.steps ? 0 : next;
    this.tell();
    this.draw();
  }

  go() {
    let last = null;
    const tick = (now) => {
      const passed = last === null ? 0 : Math.min(0.1, (now - last) / 1000);
      last = now;
      this.clock += passed;
      const whole = this.steps / PACE + REST;
      this.time = Math.min(this.steps, (this.clock % whole) * PACE);
      this.draw();
      this.frame = requestAnimationFrame(tick);
    };
    this.clock = 0;
    this.frame = requestAnimationFrame(tick);
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }

  tell() {
    for (const name of ["forward", "backward"]) {
      this.buttons[name].setAttribute("aria-pressed", String(this.way === name));
    }
    this.buttons.step.disabled = !this.way;
    const still = this.way && this.frame === null;
    const { at } = this.words;
    this.status.textContent = still
      ? at.replace("{pass}", this.words[this.way]).replace("{step}", this.time).replace("{steps}", this.steps)
      : "";
  }

  draw() {
    for (const view of this.views) {
      view.root.classList.toggle("normviz-diagram-moving", Boolean(this.way));
      const back = this.way === "backward";
      // Every signal starts when the first one does; a small drawing waits at its end.
      const row = back ? view.steps - this.time : this.time;
      for (const { box, group } of view.boxes) {
        const reached = !this.way || (back ? box.row >= row - 1e-9 : box.row <= row + 1e-9);
        group.classList.toggle("normviz-diagram-ahead", !reached);
      }
      for (const wire of view.wires) this.light(wire, back, row);
    }
  }

  light({ pulse, dot, from, to, length }, back, row) {
    const share = Math.min(1, Math.max(0, (row - from) / (to - from)));
    const done = back ? 1 - share : share;
    const shown = this.way && done > 0;
    pulse.style.display = shown ? "" : "none";
    dot.style.display = shown && done < 1 ? "" : "none";
    if (!shown) return;
    set(pulse, { "stroke-dasharray": `${done} 2`, "stroke-dashoffset": back ? -share : 0 });
    if (done === 1) return;
    const { x, y } = pulse.getPointAtLength(share * length);
    set(dot, { cx: x, cy: y });
  }

  end() {
    this.stop();
  }
}
