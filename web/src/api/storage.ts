// The browser's storage. If the browser refuses it (the reader blocked it, or it is full), values last as long as the page.

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
      // A storage that refuses access has nothing to forget.
    }
  }
}

/** Keeps values until the tab is closed. */
export const tabStorage = new Kept(() => sessionStorage);
/** Keeps values for all tabs, from visit to visit. */
export const deviceStorage = new Kept(() => localStorage);
