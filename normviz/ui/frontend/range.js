/**
 * Which numbers stand on an axis, and at which ones does a drag stop?
 */

const ROUND = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
const STEPS = [1, 2, 5, 10];
/** Below this the powers of ten that an axis needs leave float64. */
const SMALLEST = 1e-290;
/** Stops of a drag over the whole axis, about. */
const STOPS = 200;
/** A shown range stays while what it shows fills between these parts of it. */
const LEAST = 0.3;
const MOST = 0.92;

/** Without the digits that arithmetic in halves adds: 0.1 · 3 is 0.3. */
export const tidy = (value) => Number(value.toPrecision(12));

/** The first of the leading digits, times a power of ten, that is not below a value. */
function roundUp(value, digits) {
  const power = 10 ** Math.floor(Math.log10(value));
  return tidy(power * (digits.find((digit) => digit * power >= value * (1 - 1e-9)) ?? 10));
}

/**
 * The reach of an axis from -reach to reach.
 *
 * @param {number} largest of what is shown
 * @param {number} [now] the reach so far, kept if it still suits
 */
export function reachOf(largest, now) {
  if (now && largest > LEAST * now && largest < MOST * now) return now;
  return largest > SMALLEST ? roundUp(1.2 * largest, ROUND) : 1;
}

/** Distance of the stops of a drag along an axis from -reach to reach. */
export const stepOf = (reach) => roundUp((2 * reach) / STOPS, STEPS);

/** Distance of the numbers that entries are rounded to when all of them move: four digits of the reach. */
export const grainOf = (reach) => 10 ** (Math.floor(Math.log10(reach)) - 3);

/**
 * The nearest stop within the axis.
 *
 * @param {number} value
 * @param {number} step
 * @param {number} [reach]
 */
export function stop(value, step, reach = Infinity) {
  const nearest = tidy(Math.round(value / step) * step) + 0; // no -0
  return Math.min(reach, Math.max(-reach, nearest));
}

/**
 * Round numbers along an axis.
 *
 * @param {number} reach
 * @param {number} [upTo] where the axis ends if not at reach
 * @param {number} [most]
 */
export function ticks(reach, upTo = reach, most = 7) {
  const step = roundUp((2 * reach) / most, STEPS);
  const last = Math.floor(upTo / step + 1e-9);
  return Array.from({ length: 2 * last + 1 }, (_, i) => tidy((i - last) * step) + 0);
}

/**
 * A few significant digits with a true minus sign, as normviz/figures/words.py writes them: 0.638, −12.3, 2846, 1.2e9.
 *
 * @param {number} value
 * @param {number} [digits]
 */
export function words(value, digits = 4) {
  const size = Math.abs(value);
  let text = String(Number(value.toPrecision(digits)) + 0);
  if (size >= 10 ** digits && size < 1e6) text = String(Math.round(value));
  else if (size >= 1e6 || (size > 0 && size < 1e-4)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    text = `${Number(mantissa)}e${Number(exponent)}`;
  }
  return text.replaceAll("-", "−");
}

/**
 * The same with as many of the digits as fit.
 *
 * @param {number} value
 * @param {number} letters
 */
export function fitted(value, letters) {
  const texts = [4, 3, 2, 1].map((digits) => words(value, digits));
  return texts.find((text) => text.length <= letters) ?? texts.at(-1);
}
