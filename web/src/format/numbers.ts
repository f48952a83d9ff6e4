// Numbers with their units, each kind in one form. Pure.

/**
 * `digits` significant digits, thousands grouped, exponents only where a plain number would be unreadable. Zeros at the
 * end stay, so that a value that changes does not jump about; `formatPlain` drops them.
 */
export function formatNumber(value: number, digits = 4): string {
  return format(value, digits, true);
}

/** For values that do not change: ticks, thresholds, settings. */
export function formatPlain(value: number, digits = 6): string {
  return format(value, digits, false);
}

function format(value: number, digits: number, keepZeros: boolean): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return minus(exponential(value, Math.max(0, digits - 2), keepZeros));
  const decimals = Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(size))));
  const minimum = keepZeros ? Math.min(decimals, 3) : 0;
  return minus(formatOf(decimals, minimum).format(value));
}

/** Making a format takes far longer than using it. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(maximumFractionDigits: number, minimumFractionDigits: number): Intl.NumberFormat {
  const key = `${maximumFractionDigits} ${minimumFractionDigits}`;
  const known =
    formats.get(key) ?? new Intl.NumberFormat("en-US", { maximumFractionDigits, minimumFractionDigits });
  formats.set(key, known);
  return known;
}

function exponential(value: number, decimals: number, keepZeros: boolean): string {
  const text = value.toExponential(decimals).replace("e+", "e");
  return keepZeros ? text : text.replace(/\.?0+e/, "e");
}

const minus = (text: string) => text.replace("-", "−");

export const formatCount = (value: number) => formatOf(3, 0).format(value);

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** "17 %" for 0.17. */
export const formatPercent = (share: number, digits = 0) => `${(share * 100).toFixed(digits)} %`;

/** One decimal below 10 %. */
export const formatShare = (share: number) => formatPercent(share, share > 0 && share < 0.0995 ? 1 : 0);

/** "−18 %", as the command line has it. */
export function formatChange(share: number): string {
  const size = Math.abs(share);
  return `${share < 0 ? "−" : "+"}${formatPercent(size, size < 0.1 ? 1 : 0)}`;
}

/** For device time. */
export function formatDeviceHours(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours < 100) return formatPlain(hours, hours < 1 ? 2 : 3);
  return formatPlain(Math.round(hours), 12);
}

/** For device time in a column: one decimal. */
export const formatHours = (seconds: number) => formatOf(1, 1).format(seconds / 3600);

const joulesOfKwh = 3_600_000;

export function formatJoules(joules: number): string {
  if (joules < 1000) return `${formatPlain(joules, 4)} J`;
  if (joules < joulesOfKwh) return `${formatPlain(joules / 1000, 4)} kJ`;
  return `${formatPlain(joules / joulesOfKwh, 4)} kWh`;
}

/** For money: two decimals from 1 on, two significant digits below. */
export function formatAmount(amount: number, currency: string): string {
  const text = amount === 0 || amount >= 0.995 ? amount.toFixed(2) : formatPlain(amount, 2);
  return currency ? `${text} ${currency}` : text;
}
