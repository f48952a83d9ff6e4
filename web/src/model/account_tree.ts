// The account tree as rows, and the input of a reader who changes an account.
import type { Account, AccountChange, AccountUsage, Kinds } from "../api/types";
import { compareValues, type Value } from "./order";

export interface AccountRow {
  account: Account;
  depth: number;
  /** The last part of the name. */
  name: string;
  hasChildren: boolean;
  kinds: string[];
}

export function kindsOf(account: Account): string[] {
  const { usage, quota, limit } = account;
  return [...new Set([...Object.keys(usage), ...Object.keys(quota), ...Object.keys(limit)])].sort();
}

const isBelow = (account: string, above: string) => account.startsWith(`${above}/`);

/** The order of siblings; siblings with the same value are in the order of their names. */
export interface SiblingOrder {
  valueOf(account: Account): Value;
  descending: boolean;
}

export const byName: SiblingOrder = { valueOf: ({ account }) => account, descending: false };

/** Children follow their parent. Rows below a folded account are left out. */
export function rowsOf(
  accounts: readonly Account[],
  folded: ReadonlySet<string>,
  order: SiblingOrder = byName,
): AccountRow[] {
  const sorted = inTreeOrder(accounts, order);
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

function inTreeOrder(accounts: readonly Account[], { valueOf, descending }: SiblingOrder): Account[] {
  const values = new Map(accounts.map((account) => [account.account, valueOf(account)]));
  const paths = new Map(accounts.map(({ account }) => [account, account.split("/")]));
  /** Compares two accounts by those of their ancestors that differ first. */
  const compare = (a: string[], b: string[]): number => {
    const shared = Math.min(a.length, b.length);
    const level = a.findIndex((name, index) => name !== b[index]);
    if (level < 0 || level >= shared) return a.length - b.length;
    const [left, right] = [a, b].map((path) => path.slice(0, level + 1).join("/")) as [string, string];
    const byValue = compareValues(values.get(left) ?? null, values.get(right) ?? null, descending);
    return byValue || compareValues(left, right, false);
  };
  return [...accounts].sort((a, b) => compare(paths.get(a.account)!, paths.get(b.account)!));
}

/** What an account has of one kind of device. */
export interface AccountLine {
  row: AccountRow;
  /** "" for an account that has none of any kind. */
  kind: string;
  /** The first line of its account. */
  leads: boolean;
}

export const linesOf = (rows: readonly AccountRow[]): AccountLine[] =>
  rows.flatMap((row) =>
    (row.kinds.length > 0 ? row.kinds : [""]).map((kind, index) => ({ row, kind, leads: index === 0 })),
  );

/** Of all kinds together. */
export const usedInAll = ({ usage }: Account, figure: keyof AccountUsage) =>
  Object.values(usage).reduce((sum, of) => sum + of[figure], 0);

/** Null if there is none. */
export function sumOfKinds(kinds: Kinds<number>): number | null {
  const values = Object.values(kinds);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

export interface Meter {
  /** Fractions of the whole width: what quotas cover, what is borrowed, and where quota and limit end. */
  kept: number;
  borrowed: number;
  quota: number | null;
  limit: number | null;
  /** The account holds more than its limit: the limit was lowered, or the devices are being returned. */
  isOver: boolean;
}

/** Devices held, relative to all devices of the kind in the cluster. */
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

/** As typed; an empty field removes the rule. */
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

/** The change to send; null if nothing changes; or a sentence that says what is wrong. */
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
