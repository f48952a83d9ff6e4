// The network between a browser and the coordinator, as a test sets it: slow, out of order, losing answers, or with an
// overloaded coordinator.
import { setTimeout as pause } from "node:timers/promises";
import { Refusal } from "./call";

export class Network {
  /** How long an answer to this path takes. */
  delayMs: (path: string) => number = () => 0;
  private losing: RegExp | null = null;
  private lost = 0;
  private busy: RegExp | null = null;
  private refusals = 0;
  private retryAfterS = 1;

  /** The next answers to such paths never arrive, although the requests are carried out. */
  loseAnswers(path: RegExp, count = 1): void {
    this.losing = path;
    this.lost = count;
  }

  /** The next requests to such paths are answered with 503. */
  beBusy(path: RegExp, count = 1, retryAfterS = 1): void {
    this.busy = path;
    this.refusals = count;
    this.retryAfterS = retryAfterS;
  }

  refuseIfBusy(path: string): void {
    if (this.refusals <= 0 || !this.busy?.test(path)) return;
    this.refusals -= 1;
    throw new Refusal(503, "too much is asked of this coordinator", [], {
      "Retry-After": String(this.retryAfterS),
    });
  }

  /** False: the answer is lost. */
  async deliver(path: string): Promise<boolean> {
    const delay = this.delayMs(path);
    if (delay > 0) await pause(delay);
    if (this.lost <= 0 || !this.losing?.test(path)) return true;
    this.lost -= 1;
    return false;
  }
}
