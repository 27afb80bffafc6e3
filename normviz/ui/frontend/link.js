/**
 * How does pointing at a layer in one figure mark it in the others? With a line of the page over the drawing, so that
 * plotly's zoom, hover and history know nothing of it.
 */

/** @type {Set<Link>} The figures on the page that have been drawn. */
const links = new Set();

export class Link {
  /**
   * @param {HTMLElement} area where the line is laid over the drawing
   * @param {AbortSignal} signal ends the listening
   */
  constructor(area, signal) {
    this.area = area;
    this.pointing = false;
    this.place = null; // what another figure points at, on the horizontal axis
    this.canvas = null;
    this.line = document.createElement("div");
    this.line.className = "normviz-plot-mark";
    this.line.setAttribute("aria-hidden", "true");
    this.line.hidden = true;
    area.append(this.line);
    // A finger leaves no figure: the next tap anywhere else ends what the last one pointed at.
    window.addEventListener("pointerdown", ({ target }) => !area.contains(target) && this.stop(), {
      signal,
      capture: true,
      passive: true,
    });
    signal.addEventListener("abort", () => {
      this.stop();
      links.delete(this);
    });
  }

  /** @param {any} canvas plotly's graph element, once it is drawn */
  follow(canvas) {
    this.canvas = canvas;
    links.add(this);
    canvas.on("plotly_hover", ({ points }) => this.point(points[0]));
    canvas.on("plotly_click", ({ points }) => this.point(points[0])); // a tap may come without hovering
    canvas.on("plotly_unhover", () => this.stop());
    // Zoom, a new width and new data move the axis under the line.
    canvas.on("plotly_afterplot", () => this.draw());
  }

  /** @returns {string | undefined} what this figure shares with others, such as "layer" */
  get name() {
    return this.canvas?._fullLayout?.meta?.link ?? undefined;
  }

  /** @param {{x: any}} point of plotly; the attention half of layer l stands at l - 0.5 and marks l */
  point({ x }) {
    if (!this.name || !Number.isFinite(x)) return;
    this.pointing = true;
    this.tell(Math.ceil(x));
  }

  stop() {
    if (!this.pointing) return;
    this.pointing = false;
    this.tell(null);
  }

  /** @param {number | null} place */
  tell(place) {
    for (const other of links) {
      if (other === this || (place !== null && other.name !== this.name)) continue;
      other.place = place;
      other.draw();
    }
  }

  draw() {
    const { xaxis, yaxis } = this.canvas?._fullLayout ?? {};
    const x = this.place === null || !this.name ? NaN : xaxis.d2p(this.place);
    this.line.hidden = !(x >= 0 && x <= xaxis._length);
    if (this.line.hidden) return;
    const { style, dataset } = this.line;
    dataset.place = this.place;
    style.left = `${xaxis._offset + x}px`;
    style.top = `${yaxis._offset}px`;
    style.height = `${yaxis._length}px`;
  }
}
