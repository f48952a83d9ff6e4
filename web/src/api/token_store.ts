// Where the user token is kept: for this tab, or on this device when the person said so.

const storageKey = "podium.token";

export const storedToken = () => sessionStorage.getItem(storageKey) ?? localStorage.getItem(storageKey);

export function storeToken(token: string, keep: boolean): void {
  (keep ? localStorage : sessionStorage).setItem(storageKey, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(storageKey);
  localStorage.removeItem(storageKey);
}
