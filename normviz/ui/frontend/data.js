/**
 * What did Python send? The other half of normviz/ui/payload.py.
 */

const TYPES = {
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/**
 * A copy of a value with its base64 arrays unpacked; plotly may write into it.
 *
 * @param {any} value
 * @returns {any}
 */
export function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if ("bdata" in value) return unpack(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decode(part)]));
}

/** @param {{dtype: string, bdata: string, shape: number[]}} packed */
function unpack({ dtype, bdata, shape }) {
  const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
  return rows(new TYPES[dtype](bytes.buffer), shape);
}

/** A flat array as rows of rows: plotly reads a matrix as an array of arrays. */
function rows(flat, [length, ...rest]) {
  if (!rest.length) return flat;
  const step = length ? flat.length / length : 0;
  return Array.from({ length }, (_, row) => rows(flat.subarray(row * step, (row + 1) * step), rest));
}

/**
 * @param {any} value a decoded specification
 * @returns {boolean} whether a label of it is LaTeX
 */
export function hasMath(value) {
  if (typeof value === "string") return /\$[^$]+\$/.test(value);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some(hasMath);
}

/**
 * @param {{data: {type?: string}[]}} spec
 * @returns {boolean} whether drawing it takes a WebGL context, of which a browser has few
 */
export function usesWebGL(spec) {
  return spec.data.some(({ type }) => /3d$|gl$|^(surface|isosurface|volume|cone|streamtube|splom|parcoords)$/.test(type));
}

/**
 * Columns of a table with their numbers unpacked.
 *
 * @param {{columns: {name: string, values?: object, codes?: object, labels?: string[]}[]}} table
 * @returns {{name: string, cell: (row: number) => number | string | null}[]}
 */
export function tableColumns(table) {
  return decode(table.columns).map(({ name, values, codes, labels }) => ({
    name,
    cell: values ? (row) => values[row] : (row) => labels[codes[row]] ?? null,
  }));
}
