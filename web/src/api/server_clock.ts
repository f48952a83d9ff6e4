// The one clock of the dashboard is the coordinator's, from which every time on the wire is. How far it is ahead of this
// machine's is known by the Date of its answers: whole seconds, from some moment between the request and its answer. Each answer
// bounds it, and bounds that overlap close in on it. Nothing else reads this machine's clock (eslint.config.js).

export class ServerClock {
  private low = -Infinity;
  private high = Infinity;

  /** `date`: of an answer, which was asked for and heard at these times of this machine. */
  note(date: string | null, sentMs: number, heardMs: number): void {
    const second = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(second)) return;
    const low = second - heardMs;
    const high = second + 1000 - sentMs;
    const fits = low <= this.high && high >= this.low;
    // Bounds that contradict those of before: a clock was set.
    this.low = fits ? Math.max(low, this.low) : low;
    this.high = fits ? Math.min(high, this.high) : high;
  }

  /** 0 as far as anybody can tell: a difference that is none would make ages jump. */
  get aheadMs(): number {
    if (this.low <= 0 && this.high >= 0) return 0;
    return Math.round((this.low + this.high) / 2);
  }
}

const clock = new ServerClock();

/** In milliseconds since 1970. How long something takes here is told by performance.now() instead, which is never set. */
export const serverNow = () => Date.now() + clock.aheadMs;

/** Begins when a request is sent; the function that it returns takes the Date of its answer. */
export function readClock(): (date: string | null) => void {
  const sentMs = Date.now();
  return (date) => clock.note(date, sentMs, Date.now());
}
