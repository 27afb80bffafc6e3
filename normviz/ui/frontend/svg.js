/**
 * How is a line, a word or an arrow put into a drawing, once, and moved afterwards?
 */

const SPACE = "http://www.w3.org/2000/svg";

/**
 * A new element of a drawing.
 *
 * @param {Element} parent
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @returns {SVGElement}
 */
export function drawn(parent, tag, attributes = {}) {
  const element = document.createElementNS(SPACE, tag);
  set(element, attributes);
  parent.append(element);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, string | number>} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/**
 * @param {SVGElement} element
 * @param {boolean} shown
 */
export function show(element, shown) {
  element.style.display = shown ? "" : "none";
}

/** @param {Element} element written only when it changes: a text that is set again is laid out again */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A new element of the page.
 *
 * @param {Element} parent
 * @param {string} tag
 * @param {string} name of its class, after normviz-pad-
 * @returns {HTMLElement}
 */
export function element(parent, tag, name) {
  const made = document.createElement(tag);
  made.className = `normviz-pad-${name}`;
  parent.append(made);
  return made;
}

/**
 * A drawing with a name.
 *
 * @param {Element} parent
 * @param {string} name of its class, after normviz-pad-
 */
export function drawing(parent, name) {
  return drawn(parent, "svg", { class: `normviz-pad-${name}`, role: "group" });
}

/**
 * A finger that starts on this part of a drawing drags it and does not scroll the page. Chromium does not ask every
 * part of an SVG for its touch-action.
 *
 * @param {Element} part
 */
export function keepFromScrolling(part) {
  part.addEventListener("touchstart", (event) => event.cancelable && event.preventDefault(), { passive: false });
}

/** An arrow from one place to another, its head as long as fits. */
export class Arrow {
  /**
   * @param {Element} parent
   * @param {string} name of its class
   * @param {number} width of the line in CSS pixels
   */
  constructor(parent, name, width) {
    this.group = drawn(parent, "g", { class: name });
    this.line = drawn(this.group, "line", { "stroke-width": width });
    this.head = drawn(this.group, "path");
    this.size = width + 9;
  }

  /**
   * @param {number[] | null} from
   * @param {number[]} [to] in CSS pixels; null takes the arrow away
   */
  point(from, to) {
    const length = from && Math.hypot(to[0] - from[0], to[1] - from[1]);
    show(this.group, Boolean(length > 0.5));
    if (!(length > 0.5)) return;
    const [x, y] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const size = Math.min(this.size, length);
    const [bx, by] = [to[0] - size * x, to[1] - size * y];
    const half = 0.42 * size;
    set(this.line, { x1: from[0], y1: from[1], x2: bx + 0.5 * x, y2: by + 0.5 * y });
    const sides = `${bx - half * y},${by + half * x}L${bx + half * y},${by - half * x}`;
    this.head.setAttribute("d", `M${to[0]},${to[1]}L${sides}Z`);
  }
}
