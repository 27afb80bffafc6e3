/**
 * What stands around a drawing? Title, text alternative, buttons, and the numbers as a table.
 */

import { fillTable } from "./table.js";

export class Frame {
  /**
   * @param {HTMLElement} parent
   * @param {Record<"reset" | "table" | "png" | "svg" | "csv", () => void>} actions of the buttons, in their order
   */
  constructor(parent, actions) {
    parent.querySelector(".normviz-plot-place")?.remove();
    this.root = make("figure", "normviz-plot");
    this.caption = make("figcaption", "normviz-plot-title");
    this.area = make("div", "normviz-plot-area", "img");
    this.area.setAttribute("aria-busy", "true");
    this.canvas = make("div", "normviz-plot-canvas");
    this.area.append(this.canvas);
    this.note = make("p", "normviz-plot-note", "status");
    this.tools = make("div", "normviz-plot-tools", "group");
    this.buttons = Object.fromEntries(
      Object.entries(actions).map(([name, action]) => {
        const button = make("button", "normviz-plot-button");
        button.type = "button";
        button.addEventListener("click", action);
        return [name, button];
      }),
    );
    this.buttons.table.setAttribute("aria-expanded", "false");
    this.tools.append(...Object.values(this.buttons));
    this.table = make("div", "normviz-plot-table", "region");
    this.table.tabIndex = 0; // it scrolls, also by keyboard
    this.table.hidden = true;
    this.root.append(this.caption, this.area, this.note, this.tools, this.table);
    parent.append(this.root);
  }

  /** @param {any} data what normviz/ui/plot.py sends */
  describe({ title, alt, height, tallest, words, clickable, table }) {
    this.caption.textContent = title;
    this.area.setAttribute("aria-label", alt);
    // 100cqi is the figure's width.
    this.area.style.height = tallest ? `min(${height}px, ${100 * tallest}cqi)` : `${height}px`;
    this.area.dataset.keys = words.keys;
    this.root.classList.toggle("normviz-plot-clickable", clickable);
    this.tools.setAttribute("aria-label", words.tools);
    this.table.setAttribute("aria-label", words.numbers);
    this.buttons.reset.textContent = words.reset;
    this.buttons.table.textContent = words.table;
    for (const format of ["png", "svg", "csv"]) {
      this.buttons[format].textContent = format.toUpperCase();
      this.buttons[format].title = words[format];
      this.buttons[format].setAttribute("aria-label", words[format]);
    }
    if (!this.table.hidden) fillTable(this.table, table, words);
  }

  /**
   * The drawing is there, or this is why not.
   *
   * @param {string} reason empty for a drawing
   */
  done(reason) {
    this.note.textContent = reason;
    this.area.setAttribute("aria-busy", "false");
  }

  /** @param {boolean} wanted whether keys act on the drawing, so that it takes the focus */
  listenToKeys(wanted) {
    if (wanted) this.area.tabIndex = 0;
    else this.area.removeAttribute("tabindex");
  }

  /** @param {any} data what normviz/ui/plot.py sends */
  toggleTable({ table, words }) {
    this.table.hidden = !this.table.hidden;
    this.buttons.table.setAttribute("aria-expanded", String(!this.table.hidden));
    if (this.table.hidden) this.table.replaceChildren();
    else fillTable(this.table, table, words);
  }
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} [role]
 */
function make(tag, className, role) {
  const element = document.createElement(tag);
  element.className = className;
  if (role) element.setAttribute("role", role);
  return element;
}
