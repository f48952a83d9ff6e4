// Where the user token is kept: for this tab, or on this device if the reader chose so.
import { deviceStorage, tabStorage } from "./storage";

const storageKey = "podium.token";

export const storedToken = () => tabStorage.get(storageKey) ?? deviceStorage.get(storageKey);

export function storeToken(token: string, keep: boolean): void {
  (keep ? deviceStorage : tabStorage).set(storageKey, token);
}

export function forgetToken(): void {
  tabStorage.remove(storageKey);
  deviceStorage.remove(storageKey);
}
