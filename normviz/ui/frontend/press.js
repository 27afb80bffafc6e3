/**
 * What is a click, and when does a person hold the drawing?
 *
 * Plotly's click event alone does not say. A 3-D figure sends it for every press, also one that starts a turn, and
 * after a touch for every hover. A flat figure loses it when the pointer moved within 50 ms before the press. Here a
 * click is a press and a release in one place, on the point that plotly finds there, once.
 */

/** A pointer that travelled further than this, in CSS pixels, has dragged and not clicked. */
const CLICK_RADIUS = 6;
/** Plotly looks for the hovered point at most every 50 ms; further from where it looked, the point is not trusted. */
const HOVER_RADIUS = 3;
/** Plotly reports a click on a flat figure, and browsers the mouse events of a tap, just after the release (ms). */
const CLICK_DELAY = 500;

export class Press {
  /**
   * @param {HTMLElement} area where a press counts
   * @param {AbortSignal} signal ends the listening
   * @param {{released: () => void, clicked: (point: number[]) => void}} tell
   */
  constructor(area, signal, tell) {
    this.tell = tell;
    this.down = false;
    this.at = null; // where the pointer is: {x, y}
    this.hovered = null; // the point under the pointer and where the pointer was: {point, x, y}
    this.last = null; // the press under way or just over: {x, y, time, still, touch, point}
    const everywhere = { signal, capture: true, passive: true };
    area.addEventListener("pointerdown", (event) => this.start(event), everywhere);
    window.addEventListener("pointermove", (event) => this.move(event), everywhere);
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(end, (event) => this.end(event), everywhere);
    }
  }

  /** @param {any} canvas plotly's graph element, once it is drawn */
  follow(canvas) {
    canvas.on("plotly_click", (event) => this.click(event));
    canvas.on("plotly_hover", (event) => this.hover(event));
    canvas.on("plotly_unhover", () => {
      this.hovered = null;
    });
  }

  /** @param {PointerEvent} event */
  start({ clientX: x, clientY: y, timeStamp: time, button, pointerType }) {
    const { hovered } = this;
    const trusted = hovered && Math.hypot(hovered.x - x, hovered.y - y) <= HOVER_RADIUS;
    const point = trusted ? hovered.point : null;
    this.down = true;
    this.last = { x, y, time, still: button === 0, touch: pointerType === "touch", point };
  }

  /** @param {PointerEvent} event */
  move({ clientX, clientY }) {
    const { last } = this;
    this.at = { x: clientX, y: clientY };
    if (this.down && Math.hypot(clientX - last.x, clientY - last.y) > CLICK_RADIUS) last.still = false;
  }

  /** @param {Event} event */
  end({ type, timeStamp }) {
    if (!this.down) return;
    this.down = false;
    this.last.time = timeStamp;
    if (type !== "pointerup") this.last.still = false; // the browser took the finger to scroll, or the window went
    this.finish(timeStamp);
    // Plotly ends its own drag on the mouse event that follows this one; the update that was held comes after it.
    setTimeout(this.tell.released);
  }

  /** A finger does not hover: what plotly finds under it just after a tap is what was tapped. */
  hover({ points, event }) {
    // A 3-D figure does not say where: it has just looked at where the pointer is.
    const at = event ? { x: event.clientX, y: event.clientY } : this.at;
    this.hovered = at && { point: points[0].customdata, ...at };
    if (this.last?.touch) this.click({ points, event });
  }

  click({ points, event }) {
    if (!this.last) return;
    this.last.point = points[0]?.customdata ?? this.last.point;
    if (!this.down) this.finish(event?.timeStamp ?? performance.now());
  }

  /** @param {number} time of the event that may complete the click */
  finish(time) {
    const { point, still, time: released } = this.last;
    if (point == null || !still || time - released > CLICK_DELAY) return;
    this.last = null;
    this.tell.clicked(Array.from(point));
  }
}
