// The browser's storage, which it may refuse (blocked by the person, or full): then things are kept for as long as the page.

class Kept {
  private readonly refused = new Map<string, string>();

  constructor(private readonly open: () => Storage) {}

  get(key: string): string | null {
    try {
      return this.refused.get(key) ?? this.open().getItem(key);
    } catch {
      return null;
    }
  }

  set(key: string, value: string): void {
    this.refused.delete(key);
    try {
      this.open().setItem(key, value);
    } catch {
      this.refused.set(key, value);
    }
  }

  remove(key: string): void {
    this.refused.delete(key);
    try {
      this.open().removeItem(key);
    } catch {
      // What is refused has nothing to forget.
    }
  }
}

/** Until the tab is closed. */
export const tabStorage = new Kept(() => sessionStorage);
/** For all tabs, from visit to visit. */
export const deviceStorage = new Kept(() => localStorage);
