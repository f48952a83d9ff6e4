// Limits the number of requests under way where a page would make many at once: the others wait for their turn.

export class Turns {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(most: number) {
    this.free = most;
  }

  /** Rejects without having begun if it is aborted before its turn. */
  async take<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.wait(signal);
    try {
      return await act();
    } finally {
      this.pass();
    }
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.delete(begin);
        reject(signal.reason);
      };
      this.waiting.add(begin);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  private pass(): void {
    const [next] = this.waiting;
    if (next === undefined) this.free += 1;
    else {
      this.waiting.delete(next);
      next();
    }
  }
}
