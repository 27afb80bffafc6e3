/**
 * How is a picture drawn so that a person's zoom, camera and legend choices outlive every update?
 *
 * One figure per mounted component, around `Plotly.react` with a constant `uirevision`. Streamlit calls the default
 * export again whenever the picture or the theme changes, and its result once, when the component goes away.
 */

import { hasMath, usesWebGL } from "./data.js";
import { Frame } from "./frame.js";
import { loadMathJax, loadPlotly } from "./library.js";
import { Link } from "./link.js";
import { whenArrived, whole } from "./part.js";
import { Press } from "./press.js";
import { imageOf, save } from "./save.js";
import { csvText } from "./table.js";
import { turned } from "./turn.js";

/** @type {WeakMap<HTMLElement, Figure>} */
const figures = new WeakMap();

/** @type {Set<Figure>} Figures that hold a WebGL context. Browsers drop the oldest context beyond a small number. */
const webgl = new Set();
const WEBGL_LIMIT = 4;

const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  plotlyServerURL: "",
  showTips: false, // they are in English
  scrollZoom: "gl3d", // over a flat figure the wheel scrolls the page
  responsive: false, // the figure watches its own width
  // Plotly's own 2 is four pixels for each of an ordinary screen, which a machine without a graphics card feels.
  plotGlPixelRatio: Math.min(2, Math.max(1, window.devicePixelRatio)),
};

class Figure {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.views = 0; // counts presses of "Reset view"
    this.view = null; // the `uirevision` of the drawing on the page
    this.data = null; // what Streamlit sent last
    this.next = null; // what is not drawn yet
    this.shown = null; // what is drawn, or was to be drawn last, with all its parts
    this.frozen = null; // the drawing on the page but for its shapes: {traces, layout}, the layout as text
    this.drawing = false;
    this.Plotly = null; // once it has drawn
    this.frame = new Frame(parent, {
      reset: () => this.reset(),
      table: () => this.shown && this.frame.toggleTable(this.shown),
      png: () => this.saveImage("png", "image/png"),
      svg: () => this.saveImage("svg", "image/svg+xml"),
      csv: () => this.saveNumbers(),
    });
    this.area = this.frame.area;
    this.canvas = this.frame.canvas;
    this.ended = new AbortController();
    this.press = new Press(this.area, this.ended.signal, {
      released: () => this.flush(),
      clicked: (point) => this.data.clickable && this.send(point),
    });
    this.link = new Link(this.area, this.ended.signal);
    whenArrived(() => this.flush(), this.ended.signal);
    this.area.addEventListener("keydown", (event) => this.turn(event));
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.area);
  }

  /**
   * @param {object} data what normviz/ui/plot.py sends
   * @param {(point: number[]) => void} send
   * @returns {() => void} what ends the figure once it has left the page
   */
  update(data, send) {
    this.send = send;
    if (data !== this.data) {
      this.data = data;
      this.next = data;
      this.flush();
    }
    // Streamlit also calls the result of a call that a newer one overtakes, before or after that one, while the figure
    // lives on.
    return () => this.frame.root.isConnected || this.remove();
  }

  /** Draw what is due, unless a person holds the drawing or it has no width yet (a closed tab, say). */
  async flush() {
    if (this.drawing || this.removed) return;
    this.drawing = true;
    try {
      while (this.next && !this.press.down && this.area.clientWidth && !this.removed) {
        const next = whole(this.next);
        if (!next) break; // a part of it comes with another message
        this.next = null;
        this.shown = next;
        await this.draw(next);
      }
    } catch (error) {
      console.warn("normviz", error);
      this.frame.done(this.data.words.failed);
    } finally {
      this.drawing = false;
    }
  }

  async draw(data) {
    this.frame.describe(data);
    const { spec } = data;
    const [Plotly] = await Promise.all([loadPlotly(data.plotly), hasMath(spec) && loadMathJax()]);
    if (this.removed) return;
    if (!usesWebGL(spec)) webgl.delete(this);
    else if (webgl.has(this) || webgl.size < WEBGL_LIMIT) webgl.add(this);
    else {
      this.clear();
      this.frame.done(data.words.crowded);
      return;
    }
    const view = `${data.name} ${this.views}`;
    const layout = { ...spec.layout, autosize: true, uirevision: view };
    delete layout.height; // the area has it
    if (this.view === view) this.keepCameras(layout);
    // A finger that scrolls the page must not get stuck in a zoom box.
    if (matchMedia("(pointer: coarse)").matches && !layout.scene) layout.dragmode = false;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete layout.transition;
    const frozen = withoutShapes(spec.data, layout);
    // Plotly lays the whole drawing out again for one other shape, unless it is told that nothing else has changed.
    if (alike(this.frozen, frozen)) await Plotly.relayout(this.canvas, { shapes: layout.shapes ?? [] });
    else await Plotly.react(this.canvas, spec.data, layout, CONFIG);
    this.frozen = frozen;
    if (!this.Plotly) {
      this.press.follow(this.canvas);
      this.link.follow(this.canvas);
    }
    this.Plotly = Plotly;
    this.view = view;
    this.width = this.area.clientWidth;
    if (this.removed) this.clear(); // it went while plotly was at work
    this.frame.listenToKeys(Boolean(layout.scene));
    this.frame.done("");
  }

  /** A camera belongs to the person from the first drawing on: what Python sends later is not looked at. */
  keepCameras(layout) {
    for (const name of Object.keys(layout).filter((part) => part.startsWith("scene"))) {
      layout[name].camera = this.canvas._fullLayout[name]?._scene.getCamera();
    }
  }

  /** A new `uirevision` makes plotly forget zoom, camera and legend choices. */
  reset() {
    this.views += 1;
    this.next ??= this.data;
    this.flush();
  }

  /** @param {KeyboardEvent} event */
  turn(event) {
    const scene = this.canvas._fullLayout?.scene;
    const eye = scene && !event.ctrlKey && !event.metaKey && !event.altKey && turned(event.key, scene.camera.eye);
    if (!eye) return;
    event.preventDefault();
    this.Plotly.relayout(this.canvas, { "scene.camera.eye": eye });
  }

  /**
   * @param {"png" | "svg"} format
   * @param {string} type
   */
  async saveImage(format, type) {
    if (!this.Plotly) return;
    const { name, title } = this.shown;
    save(`${name}.${format}`, await imageOf(this.Plotly, this.canvas, format, title), type);
  }

  saveNumbers() {
    if (this.shown) save(`${this.shown.name}.csv`, csvText(this.shown.table), "text/csv;charset=utf-8");
  }

  resize() {
    const { clientWidth } = this.area;
    if (!this.Plotly) this.flush();
    else if (clientWidth && clientWidth !== this.width) {
      this.width = clientWidth;
      this.Plotly.Plots.resize(this.canvas);
    }
  }

  /** Give the drawing's memory and WebGL context back. */
  clear() {
    webgl.delete(this);
    this.Plotly?.purge(this.canvas);
    this.Plotly = null;
    this.view = null;
    this.frozen = null;
  }

  remove() {
    this.removed = true;
    this.ended.abort();
    this.resizing.disconnect();
    this.clear();
    this.frame.root.remove();
  }
}

/** Plotly writes into a layout, so that it is kept as text. */
function withoutShapes(data, { shapes, ...layout }) {
  return { traces: [...data], layout: JSON.stringify(layout) };
}

/** Traces are compared by identity, which those of a part keep; the layout names the view. */
function alike(old, { traces, layout }) {
  if (old?.layout !== layout || old.traces.length !== traces.length) return false;
  return traces.every((trace, place) => trace === old.traces[place]);
}

/**
 * @param {{data: object, parentElement: HTMLElement, setTriggerValue: (name: string, value: any) => void}} component
 * @returns {() => void}
 */
export default function plot({ data, parentElement, setTriggerValue }) {
  let figure = figures.get(parentElement);
  if (!figure || figure.removed) {
    figure = new Figure(parentElement);
    figures.set(parentElement, figure);
  }
  return figure.update(data, (point) => setTriggerValue("click", point));
}
