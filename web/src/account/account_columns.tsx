// The columns of the accounts' table, which has a row for each kind of device of an account.
import type { Account } from "../api/types";
import { formatCount, formatHours } from "../format/numbers";
import { meterOf, sumOfKinds, usedInAll, type AccountLine } from "../model/account_tree";
import type { Value } from "../model/order";
import { Button } from "../ui/button";
import type { Column } from "../ui/data_table";
import { ChevronIcon } from "../ui/icons";

export interface AccountActions {
  /** The number of devices of each kind. */
  cluster: ReadonlyMap<string, number>;
  folded: ReadonlySet<string>;
  toggle(account: string): void;
  /** Null if the reader may not change accounts. */
  edit: ((account: Account) => void) | null;
}

/** What siblings are sorted by, for each key of a column. */
export const accountFigures: readonly { key: string; number: boolean; value(account: Account): Value }[] = [
  { key: "name", number: false, value: ({ account }) => account },
  { key: "share", number: true, value: ({ share }) => share },
  { key: "held", number: true, value: (account) => usedInAll(account, "devices") },
  { key: "borrowed", number: true, value: (account) => usedInAll(account, "borrowed") },
  { key: "quota", number: true, value: ({ quota }) => sumOfKinds(quota) },
  { key: "limit", number: true, value: ({ limit }) => sumOfKinds(limit) },
  { key: "waiting", number: true, value: (account) => usedInAll(account, "waiting_devices") },
  { key: "used", number: true, value: (account) => usedInAll(account, "device_seconds") },
  { key: "factor", number: true, value: (account) => usedInAll(account, "factor") },
];

const count = (value: number | undefined) => (value === undefined ? "–" : formatCount(value));

const usageOf = ({ row, kind }: AccountLine) => row.account.usage[kind];

export const accountColumns = (actions: AccountActions): readonly Column<AccountLine>[] => [
  {
    key: "name",
    title: "Account",
    width: "minmax(150px, 2fr)",
    sortable: true,
    cell: (line) => <Name line={line} actions={actions} />,
  },
  {
    key: "share",
    title: "Share",
    width: "58px",
    number: true,
    from: 860,
    sortable: true,
    cell: ({ row, leads }) => (
      <span class={leads ? undefined : "account-again"}>{formatCount(row.account.share)}</span>
    ),
  },
  { key: "kind", title: "Kind", width: "44px", cell: ({ kind }) => kind },
  {
    key: "held",
    title: "Devices held",
    width: "minmax(130px, 2fr)",
    number: true,
    sortable: true,
    cell: (line) => <Held line={line} inCluster={actions.cluster.get(line.kind) ?? 0} />,
  },
  {
    key: "borrowed",
    title: "Borrowed",
    hint: "Devices held beyond the quota. They are reclaimed for jobs that the quota of another account covers",
    width: "84px",
    number: true,
    from: 960,
    sortable: true,
    cell: (line) => count(usageOf(line)?.borrowed ?? 0),
  },
  {
    key: "quota",
    title: "Quota",
    width: "60px",
    number: true,
    sortable: true,
    cell: ({ row, kind }) => count(row.account.quota[kind]),
  },
  {
    key: "limit",
    title: "Limit",
    width: "60px",
    number: true,
    sortable: true,
    cell: ({ row, kind }) => count(row.account.limit[kind]),
  },
  {
    key: "waiting",
    title: "Waiting",
    width: "112px",
    number: true,
    from: 720,
    sortable: true,
    cell: (line) => waitingText(usageOf(line)?.waiting_jobs ?? 0, usageOf(line)?.waiting_devices ?? 0),
  },
  {
    key: "used",
    title: "Used, hours",
    hint: "Device hours used; older use counts less",
    width: "94px",
    number: true,
    from: 1060,
    sortable: true,
    cell: (line) => formatHours(usageOf(line)?.device_seconds ?? 0),
  },
  {
    key: "factor",
    title: "Factor, hours",
    hint: "Device hours used ÷ share. Among siblings, the smallest goes first",
    width: "102px",
    number: true,
    from: 1160,
    sortable: true,
    cell: (line) => formatHours(usageOf(line)?.factor ?? 0),
  },
  {
    key: "change",
    title: <span class="visually-hidden">Change</span>,
    width: "82px",
    has: () => actions.edit !== null,
    cell: ({ row, leads }) =>
      leads &&
      actions.edit && (
        <Button small name={`Change ${row.account.account}`} onPress={() => actions.edit?.(row.account)}>
          Change…
        </Button>
      ),
  },
];

function Name({ line: { row, leads }, actions }: { line: AccountLine; actions: AccountActions }) {
  const { account } = row.account;
  const open = !actions.folded.has(account);
  return (
    <span class="account-name" style={{ "--depth": row.depth }}>
      {leads && row.hasChildren ? (
        <button
          type="button"
          class={open ? "icon-button fold is-open" : "icon-button fold"}
          aria-expanded={open}
          aria-label={`Accounts below ${account}`}
          onClick={() => actions.toggle(account)}
        >
          <ChevronIcon />
        </button>
      ) : (
        <span class="fold" aria-hidden="true" />
      )}
      <a
        class={leads ? undefined : "account-again"}
        href={jobsOf(row.account)}
        tabIndex={-1}
        title={`All jobs of ${account}`}
      >
        {row.name}
      </a>
    </span>
  );
}

export const jobsOf = ({ account }: Account) => `#/jobs?q=account:${account}`;

const waitingText = (jobs: number, devices: number) =>
  jobs === 0 ? "–" : `${formatCount(devices)} in ${jobs === 1 ? "1 job" : `${formatCount(jobs)} jobs`}`;

function Held({ line, inCluster }: { line: AccountLine; inCluster: number }) {
  const meter = meterOf(line.row.account, line.kind, inCluster);
  const width = (part: number) => ({ width: `${(100 * part).toFixed(2)}%` });
  const left = (part: number) => ({ left: `${(100 * part).toFixed(2)}%` });
  return (
    <span class="account-held">
      <span class={meter.isOver ? "meter is-over" : "meter"} aria-hidden="true">
        <span class="meter-kept" style={width(meter.kept)} />
        <span class="meter-borrowed" style={width(meter.borrowed)} />
        {meter.quota !== null && <span class="meter-quota" style={left(meter.quota)} />}
        {meter.limit !== null && <span class="meter-limit" style={left(meter.limit)} />}
      </span>
      <span
        class={meter.isOver ? "error-text" : undefined}
        title={meter.isOver ? "The account holds more than its limit allows" : undefined}
      >
        {formatCount(usageOf(line)?.devices ?? 0)}
      </span>
    </span>
  );
}
