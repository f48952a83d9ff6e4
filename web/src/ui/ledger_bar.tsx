// Time by kind as one bar, and the key to its colours.
import type { LedgerKind } from "../api/types";
import { formatPercent } from "../format/numbers";
import { describeParts, kindMeaning, kindText, sumOf, type Part } from "../model/ledger";
import "../styles/ledger.css";

interface Properties {
  label: string;
  parts: readonly Part[];
  /** The fraction of the width that the bar takes, for bars above each other; all of it by default. */
  share?: number;
  /** The kind that the reader points at: the others are drawn faintly. */
  lit?: LedgerKind | null;
}

export function LedgerBar({ label, parts, share = 1, lit = null }: Properties) {
  const whole = sumOf(parts);
  return (
    <div class="ledger-bar" role="img" aria-label={`${label}: ${describeParts(parts) || "nothing"}`}>
      {parts.map(({ kind, ms }) => (
        <span
          key={kind}
          class={`ledger-piece ledger-${kind}${lit !== null && lit !== kind ? " is-dim" : ""}`}
          style={{ width: `${(100 * share * ms) / whole}%` }}
          title={titleOf(kind, ms, whole)}
        />
      ))}
    </div>
  );
}

const titleOf = (kind: LedgerKind, ms: number, whole: number) =>
  `${kindText(kind)}, ${formatPercent(ms / whole, 1)}`;

export function LedgerKey({ kinds }: { kinds: readonly LedgerKind[] }) {
  return (
    <ul class="ledger-key" aria-label="Colours">
      {kinds.map((kind) => (
        <li key={kind} title={kindMeaning[kind]}>
          <LedgerSwatch kind={kind} />
          {kindText(kind)}
        </li>
      ))}
    </ul>
  );
}

export const LedgerSwatch = ({ kind }: { kind: LedgerKind }) => (
  <span class={`ledger-swatch ledger-${kind}`} aria-hidden="true" />
);
