/**
 * How does a person without a pointer look around a 3-D figure? Arrow keys turn it, + and - change the distance.
 */

const STEP = Math.PI / 18;
const NEARER = 0.9;
/** Straight above or below, left and right lose their meaning. */
const POLE = 0.1;

/**
 * The eye after a key press.
 *
 * @param {string} key
 * @param {{x: number, y: number, z: number}} eye
 * @returns {{x: number, y: number, z: number} | null} null for a key that does nothing here
 */
export function turned(key, { x, y, z }) {
  let distance = Math.hypot(x, y, z);
  let azimuth = Math.atan2(y, x);
  let polar = Math.acos(z / distance);
  if (key === "ArrowLeft") azimuth -= STEP;
  else if (key === "ArrowRight") azimuth += STEP;
  else if (key === "ArrowUp") polar = Math.max(POLE, polar - STEP);
  else if (key === "ArrowDown") polar = Math.min(Math.PI - POLE, polar + STEP);
  else if (key === "+" || key === "=") distance *= NEARER;
  else if (key === "-") distance /= NEARER;
  else return null;
  return {
    x: distance * Math.sin(polar) * Math.cos(azimuth),
    y: distance * Math.sin(polar) * Math.sin(azimuth),
    z: distance * Math.cos(polar),
  };
}
