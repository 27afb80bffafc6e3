/**
 * What of a figure stays the same while a person clicks? It comes in a message of its own: here it arrives, and
 * figures find it by its name.
 *
 * Streamlit loads a component's files from an address of the component's own, so that a module is there twice. What
 * both copies share lies on the page.
 */

import { decode } from "./data.js";

const ARRIVED = "normviz-part";
/** Characters of a name, which the content starts with. */
const NAME = 32;

/** @type {Map<string, {owner: HTMLElement, traces: Record<string, object>, columns: object[]}>} By name. */
const parts = (window.normvizParts ??= new Map());

/** @type {WeakMap<HTMLElement, string>} The name of what came last to a place of the page. */
const names = new WeakMap();

/**
 * A figure's data with its part in place and its arrays unpacked.
 *
 * @param {any} data what normviz/ui/plot.py sends
 * @returns {any} null while the part is still on its way
 */
export function whole(data) {
  if (!data.part) return { ...data, spec: decode(data.spec) };
  const part = parts.get(data.part);
  if (!part) return null;
  const traces = data.spec.data.map((trace, place) => (trace ? decode(trace) : part.traces[place]));
  const spec = { data: traces, layout: decode(data.spec.layout) };
  return { ...data, spec, table: { ...data.table, columns: part.columns } };
}

/**
 * @param {() => void} listener called when another part is there
 * @param {AbortSignal} signal ends the listening
 */
export function whenArrived(listener, signal) {
  window.addEventListener(ARRIVED, listener, { signal });
}

/**
 * @param {{data: Uint8Array, parentElement: HTMLElement}} component
 * @returns {() => void}
 */
export default function part({ data, parentElement: owner }) {
  const name = new TextDecoder().decode(data.subarray(0, NAME));
  if (names.get(owner) !== name) {
    forget(owner);
    names.set(owner, name);
    open(name, owner, data.subarray(NAME));
  }
  return () => owner.isConnected || forget(owner);
}

async function open(name, owner, packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { traces, columns } = await new Response(stream).json();
  if (names.get(owner) !== name) return; // another one came meanwhile, or the figure went
  // Unpacked once: plotly does not look into an array that it has seen before.
  parts.set(name, { owner, traces: decode(traces), columns });
  window.dispatchEvent(new Event(ARRIVED));
}

/** Another figure on the page may show the same: only the last one that brought it takes it away. */
function forget(owner) {
  const name = names.get(owner);
  if (parts.get(name)?.owner === owner) parts.delete(name);
  names.delete(owner);
}
