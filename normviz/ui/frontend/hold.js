/**
 * When does what a hand moves reach Python, and when does what Python sends reach the drawing?
 *
 * On release, or when the keys have rested; at no other time. What comes from the server meanwhile waits.
 */

/** Milliseconds after the last key until the value is sent. */
const REST = 400;
/** Milliseconds for which an answer to a value that was sent is expected. */
const ANSWER = 10_000;

export class Hold {
  /**
   * @param {{
   *   take: (data: any, own: boolean) => void,
   *   value: () => any,
   *   same: (a: any, b: any) => boolean,
   *   settled: () => void,
   * }} drawing take: show data, with the person's own value if `own`; settled: a move is over
   */
  constructor(drawing) {
    this.drawing = drawing;
    this.down = false;
    this.timer = null;
    this.changed = false;
    this.next = null; // what is not shown yet
    this.given = null; // the value that Python sent last
    this.sent = []; // values that Python has not answered yet: {value, time}
    this.send = () => {};
  }

  /** @param {{value: any}} data what normviz/ui/pad.py sends */
  offer(data) {
    this.next = data;
    this.flush();
  }

  flush() {
    if (this.down || this.timer !== null || !this.next) return;
    const { next } = this;
    this.next = null;
    this.drawing.take(next, this.keeps(next.value));
  }

  /**
   * Whether the value on the page is newer than the one that came: an answer to what was sent, or a server that has
   * not heard of it yet.
   */
  keeps(value) {
    const { same } = this.drawing;
    this.sent = this.sent.filter(({ time }) => performance.now() - time < ANSWER);
    const place = this.sent.findLastIndex((one) => same(one.value, value));
    const stale = this.sent.length > 0 && this.given !== null && same(this.given, value);
    this.given = value;
    if (place < 0 && !stale) this.sent = [];
    else this.sent.splice(0, place + 1);
    return place >= 0 || stale;
  }

  grab() {
    this.down = true;
  }

  /** The value has moved under the hand. */
  move() {
    this.changed = true;
  }

  /** A key has moved the value. */
  key() {
    this.changed = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!this.down) this.release(); // else the release of the pointer sends it
    }, REST);
  }

  /** The hand is off: what it has changed is sent, and what waited is shown. */
  release() {
    clearTimeout(this.timer);
    this.timer = null;
    this.down = false;
    if (this.changed) {
      this.changed = false;
      this.drawing.settled();
      const value = this.drawing.value();
      this.sent.push({ value, time: performance.now() });
      this.send(value);
    }
    this.flush();
  }

  /** The component has left the page. */
  end() {
    clearTimeout(this.timer);
  }
}

/**
 * Whether two values agree up to rounding.
 *
 * @param {Record<string, number | number[]>} a
 * @param {Record<string, number | number[]>} b
 */
export function same(a, b) {
  const [left, right] = [a, b].map((value) => Object.values(value).flat());
  return (
    left.length === right.length &&
    left.every((value, i) => Math.abs(value - right[i]) <= 1e-9 * Math.max(Math.abs(value), Math.abs(right[i])))
  );
}
