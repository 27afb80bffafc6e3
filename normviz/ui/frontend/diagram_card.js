/**
 * What does the box say that a person points at? A card beside it, which stays while it is pointed at or pressed.
 */

const AWAY = 250; // ms in which a pointer may travel from the box to its card
const AIR = 10;

export class Card {
  /**
   * @param {HTMLElement} root
   * @param {AbortSignal} signal
   */
  constructor(root, signal) {
    this.root = root;
    this.element = document.createElement("div");
    this.element.className = "normviz-diagram-card";
    this.element.setAttribute("aria-hidden", "true"); // the box says the same
    this.element.hidden = true;
    root.append(this.element);
    this.parts = Object.fromEntries(
      ["strong", "span", "code", "p"].map((tag) => [tag, this.element.appendChild(document.createElement(tag))]),
    );
    this.shown = null;
    this.pinned = false;
    this.element.addEventListener("pointerenter", () => clearTimeout(this.going));
    this.element.addEventListener("pointerleave", () => this.leave(this.shown));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close(), { signal });
    document.addEventListener(
      "pointerdown",
      (event) => {
        const path = event.composedPath();
        if (this.shown && !path.includes(this.element) && !path.includes(this.shown.group)) this.close();
      },
      { signal },
    );
  }

  /** @param {{module: string}} words */
  describe(words) {
    this.words = words;
  }

  /** A pointer or the focus is on a box. */
  point(one) {
    clearTimeout(this.going);
    if (this.pinned && this.shown !== one) this.close();
    this.show(one);
  }

  /** Pointer or focus have left a box. */
  leave(one) {
    if (!one || this.shown !== one || this.pinned) return;
    clearTimeout(this.going);
    this.going = setTimeout(() => this.shown === one && !this.pinned && this.close(), AWAY);
  }

  press(one) {
    clearTimeout(this.going);
    if (this.pinned && this.shown === one) {
      this.close();
      return;
    }
    this.close();
    this.show(one);
    this.pinned = true;
  }

  show(one) {
    if (this.shown === one) return;
    this.close();
    this.shown = one;
    const { strong, span, code, p } = this.parts;
    const { name, formula, module, gradient } = one.box;
    strong.textContent = name;
    span.textContent = formula;
    code.textContent = module;
    code.hidden = !module;
    p.textContent = gradient;
    this.element.hidden = false;
    one.group.setAttribute("aria-expanded", "true");
    this.place(one.group.querySelector(".normviz-diagram-grip").getBoundingClientRect());
  }

  /** Right of the box where there is room, else below it, else above. */
  place(box) {
    const root = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const beside = box.right + AIR + width <= root.right;
    let x = beside ? box.right + AIR : box.left + box.width / 2 - width / 2;
    let y = beside ? box.top + box.height / 2 - height / 2 : box.bottom + AIR;
    if (!beside && y + height > innerHeight && box.top - AIR - height > 0) y = box.top - AIR - height;
    if (beside) y = Math.max(4, Math.min(y, innerHeight - height - 4));
    x = Math.max(root.left, Math.min(x, root.right - width));
    this.element.style.left = `${x - root.left}px`;
    this.element.style.top = `${y - root.top}px`;
  }

  close() {
    clearTimeout(this.going);
    this.shown?.group.setAttribute("aria-expanded", "false");
    this.shown = null;
    this.pinned = false;
    this.element.hidden = true;
  }
}
