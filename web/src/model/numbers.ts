// Numbers from the wire and back to a person's eye.
import type { WireNumber } from "../api/types";

export function fromWire(value: WireNumber): number {
  return typeof value === "number" ? value : Number(value);
}

/**
 * `digits` significant digits, thousands grouped, exponents only where a plain number would be unreadable. Zeros at the
 * end stay, so that a value that changes does not jump about; `formatPlain` drops them.
 */
export function formatNumber(value: number, digits = 4): string {
  return format(value, digits, true);
}

/** For what stands still: ticks, thresholds, settings. */
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

/** Making one takes far longer than using it. */
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
