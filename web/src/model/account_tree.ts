// The account tree as rows, and what a person typed to change an account.
import type { Account, AccountChange, Kinds } from "../api/types";

export interface AccountRow {
  account: Account;
  depth: number;
  /** The name without what is above it. */
  name: string;
  hasChildren: boolean;
  kinds: string[];
}

export function kindsOf(account: Account): string[] {
  const { usage, quota, limit } = account;
  return [...new Set([...Object.keys(usage), ...Object.keys(quota), ...Object.keys(limit)])].sort();
}

const isBelow = (account: string, above: string) => account.startsWith(`${above}/`);

/** Children after their parent, siblings by name; nothing below an account that is folded. */
export function rowsOf(accounts: readonly Account[], folded: ReadonlySet<string>): AccountRow[] {
  const key = ({ account }: Account) => account.split("/");
  const sorted = [...accounts].sort((a, b) => comparePaths(key(a), key(b)));
  return sorted
    .filter(({ account }) => ![...folded].some((above) => isBelow(account, above)))
    .map((account) => ({
      account,
      depth: account.account.split("/").length - 1,
      name: account.account.split("/").at(-1)!,
      hasChildren: sorted.some((other) => isBelow(other.account, account.account)),
      kinds: kindsOf(account),
    }));
}

function comparePaths(a: string[], b: string[]): number {
  for (let level = 0; level < Math.min(a.length, b.length); level += 1) {
    if (a[level] !== b[level]) return a[level]! < b[level]! ? -1 : 1;
  }
  return a.length - b.length;
}

export interface Meter {
  /** Parts of the whole width: kept by quotas, borrowed, and where quota and limit end. */
  kept: number;
  borrowed: number;
  quota: number | null;
  limit: number | null;
  /** More is held than the limit allows: it was lowered, or its devices are being given back. */
  isOver: boolean;
}

/** Devices held, against all that the cluster has of the kind. */
export function meterOf(account: Account, kind: string, inCluster: number): Meter {
  const { devices = 0, borrowed = 0 } = account.usage[kind] ?? {};
  const quota = account.quota[kind];
  const limit = account.limit[kind];
  const whole = Math.max(1, inCluster, limit ?? 0, quota ?? 0, devices);
  return {
    kept: (devices - borrowed) / whole,
    borrowed: borrowed / whole,
    quota: quota === undefined ? null : quota / whole,
    limit: limit === undefined ? null : limit / whole,
    isOver: limit !== undefined && devices > limit,
  };
}

/** As typed: an empty field lifts. */
export interface AccountText {
  account: string;
  share: string;
  quota: Kinds<string>;
  limit: Kinds<string>;
}

export function textOf(account: Account, kinds: readonly string[]): AccountText {
  const texts = (of: Kinds<number>) =>
    Object.fromEntries(kinds.map((kind) => [kind, of[kind] === undefined ? "" : String(of[kind])]));
  return {
    account: account.account,
    share: String(account.share),
    quota: texts(account.quota),
    limit: texts(account.limit),
  };
}

const mostDevices = 1_000_000_000;
const mostShare = 1_000_000;

function readNumber(text: string, least: number, most: number): number | null {
  const number = Number(text);
  return text.trim() !== "" && Number.isInteger(number) && number >= least && number <= most ? number : null;
}

/** What to send; null where nothing changes; or what is wrong. */
export function readAccount(before: Account, text: AccountText): AccountChange | null | string {
  const change: AccountChange = {};
  const share = readNumber(text.share, 1, mostShare);
  if (share === null) return "A share is a whole number from 1 to 1,000,000.";
  if (share !== before.share) change.share = share;
  for (const rule of ["quota", "limit"] as const) {
    for (const [kind, typed] of Object.entries(text[rule])) {
      const devices = typed.trim() === "" ? null : readNumber(typed, 0, mostDevices);
      if (typed.trim() !== "" && devices === null)
        return `The ${kind} ${rule} is a whole number of devices, or empty for none.`;
      if (devices !== (before[rule][kind] ?? null)) (change[rule] ??= {})[kind] = devices;
    }
  }
  for (const [kind, quota] of Object.entries(text.quota)) {
    const limit = text.limit[kind] ?? "";
    if (quota.trim() !== "" && limit.trim() !== "" && Number(quota) > Number(limit))
      return `A ${kind} quota of ${quota} can never be used with a limit of ${limit}.`;
  }
  return Object.keys(change).length === 0 ? null : change;
}

const accountName = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;

export const isAccountName = (name: string) => name.length <= 100 && accountName.test(name);
