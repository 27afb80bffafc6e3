/**
 * What do LayerNorm and RMSNorm make of a vector while a finger moves it? The steps of normviz, in the browser.
 */

/** Squares below this lose digits to float64's subnormal range; normviz refuses to divide by their roots. */
const SMALLEST_SQUARE = 1e-290;

/** @param {number[]} values */
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Mean, and x minus it. Both are measured from the first entry, so that the deviations of a constant vector are
 * exactly zero.
 *
 * @param {number[]} x
 */
export function centre(x) {
  const fromFirst = x.map((value) => value - x[0]);
  const offset = average(fromFirst);
  return { mean: x[0] + offset, centered: fromFirst.map((value) => value - offset) };
}

/**
 * Root mean square, also where the squares would leave float64.
 *
 * @param {number[]} x
 */
export function rootMeanSquare(x) {
  const largest = Math.max(...x.map(Math.abs));
  return largest && largest * Math.sqrt(average(x.map((value) => (value / largest) ** 2)));
}

/** @returns {number | null} what a norm divides by; null where 0/0 has no value or has lost its digits */
function divisor(square, eps) {
  return square + eps < SMALLEST_SQUARE ? null : Math.sqrt(square + eps);
}

/**
 * The factors of both norms: LN(x) = layer · (x - mean), RMSNorm(x) = rms · x, before weight and bias.
 *
 * @param {number} mean
 * @param {number} std
 * @param {number} eps
 * @returns {{layer: number | null, rms: number | null}}
 */
export function factors(mean, std, eps) {
  const layer = divisor(std * std, eps);
  const rms = divisor(mean * mean + std * std, eps);
  return { layer: layer && 1 / layer, rms: rms && 1 / rms };
}

/**
 * @param {number[]} x
 * @param {number[] | null} weight
 * @param {number[] | null} bias
 * @param {number} eps
 * @returns {number[] | null}
 */
export function layerNorm(x, weight, bias, eps) {
  const { centered } = centre(x);
  const below = divisor(average(centered.map((value) => value * value)), eps);
  return below && centered.map((value, i) => (value / below) * (weight?.[i] ?? 1) + (bias?.[i] ?? 0));
}

/**
 * @param {number[]} x
 * @param {number[] | null} weight
 * @param {number} eps
 * @returns {number[] | null}
 */
export function rmsNorm(x, weight, eps) {
  const below = divisor(average(x.map((value) => value * value)), eps);
  return below && x.map((value, i) => (value / below) * (weight?.[i] ?? 1));
}

/**
 * Points of the plane span{1, x} in the frame 1/√d, (x - mean)/‖x - mean‖.
 *
 * @param {number} mean
 * @param {number} std negative where the frame's second vector is turned round
 * @param {number} d
 * @param {number} eps
 * @returns {{x: number[], layerNorm: number[] | null, rmsNorm: number[] | null}}
 */
export function pointsOf(mean, std, d, eps) {
  const { layer, rms } = factors(mean, std, eps);
  const x = [Math.sqrt(d) * mean, Math.sqrt(d) * std];
  return { x, layerNorm: layer && [0, layer * x[1]], rmsNorm: rms && x.map((value) => rms * value) };
}

/**
 * @param {number[]} x
 * @param {number} eps
 */
export function plane(x, eps) {
  const { mean, centered } = centre(x);
  return pointsOf(mean, rootMeanSquare(centered), x.length, eps);
}

/**
 * What a norm hands back of a gradient: the transposed Jacobian times g, in closed form.
 *
 * With h = weight · g and y the normalized vector it is (h - mean h - y mean(h y)) / std for LayerNorm, and the same
 * without the mean of h for RMSNorm; eps is inside both roots.
 *
 * @param {"layer_norm" | "rms_norm"} norm
 * @param {number[]} x
 * @param {number[] | null} weight
 * @param {number} eps
 * @param {number[]} g
 * @returns {number[] | null}
 */
export function pullback(norm, x, weight, eps, g) {
  const layer = norm === "layer_norm";
  const vector = layer ? centre(x).centered : x;
  const below = divisor(average(vector.map((value) => value * value)), eps);
  if (below === null) return null;
  const y = vector.map((value) => value / below);
  const weighted = g.map((value, i) => value * (weight?.[i] ?? 1));
  const h = layer ? centre(weighted).centered : weighted;
  const along = average(weighted.map((value, i) => value * y[i]));
  return h.map((value, i) => (value - along * y[i]) / below);
}
