// How far the coordinator's clock is ahead of this machine's, by the Date of its answers: whole seconds, from some moment
// between the request and its answer. Each answer bounds it, and bounds that overlap close in on it.

export class ServerClock {
  private low = -Infinity;
  private high = Infinity;

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

export const serverClock = new ServerClock();
