// The clock of the dashboard is the clock of the coordinator, which all times on the wire come from. The Date of each answer
// bounds how far that clock is ahead of this machine's: Date has whole seconds, of some moment between the request and its
// answer. Overlapping bounds close in on the difference. Nothing else reads this machine's clock (eslint.config.js).

export class ServerClock {
  private low = -Infinity;
  private high = Infinity;

  /**
   * `date` is the Date of an answer. The other times are this machine's, when the request was sent and when the
   * answer arrived.
   */
  note(date: string | null, sentMs: number, heardMs: number): void {
    const second = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(second)) return;
    const low = second - heardMs;
    const high = second + 1000 - sentMs;
    const fits = low <= this.high && high >= this.low;
    // The new bounds contradict the earlier ones, so somebody has set a clock.
    this.low = fits ? Math.max(low, this.low) : low;
    this.high = fits ? Math.min(high, this.high) : high;
  }

  /** 0 while the bounds allow it: a difference that does not exist would make ages jump. */
  get aheadMs(): number {
    if (this.low <= 0 && this.high >= 0) return 0;
    return Math.round((this.low + this.high) / 2);
  }
}

const clock = new ServerClock();

/** In milliseconds since 1970. Durations on this machine come from performance.now() instead, which nobody sets. */
export const serverNow = () => Date.now() + clock.aheadMs;

/** Call it when a request is sent. The function that it returns takes the Date of the answer. */
export function readClock(): (date: string | null) => void {
  const sentMs = Date.now();
  return (date) => clock.note(date, sentMs, Date.now());
}
