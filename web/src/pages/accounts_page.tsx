// The account tree: shares, quotas and limits, what each account holds, borrows, waits for and has used.
import { useState } from "preact/hooks";
import { getAccounts } from "../api/client";
import type { Account, Accounts } from "../api/types";
import { AccountDialog } from "../account/account_dialog";
import { ChevronIcon } from "../ui/icons";
import { AsOf } from "../ui/as_of";
import { Button } from "../ui/button";
import { Notice, NotYet } from "../ui/notice";
import { useNodes } from "../hooks/use_lists";
import { useQuery } from "../hooks/use_query";
import { useScheduling } from "../hooks/use_scheduling";
import { meterOf, rowsOf, type AccountRow } from "../model/account_tree";
import { formatCount } from "../model/numbers";
import { formatHours } from "../model/queue";
import { formatDuration } from "../model/times";
import { nodes } from "../state/store";
import { mayChange } from "../state/token";
import "../styles/accounts.css";

const fresh: Account = { account: "", share: 1, quota: {}, limit: {}, usage: {} };

export function AccountsPage() {
  const list = useQuery("accounts", (signal) => getAccounts(signal), [useScheduling()]);
  useNodes();
  const [editing, setEditing] = useState<Account | null>(null);
  const cluster = devicesOfCluster();
  return (
    <div class="page">
      <header class="page-header">
        <h1>Accounts</h1>
        <AsOf shown={list} />
        {list.data && <Explanation accounts={list.data} />}
        {mayChange.value && list.data && (
          <span class="page-actions">
            <Button onPress={() => setEditing(fresh)}>New account…</Button>
          </span>
        )}
      </header>
      {list.data ? (
        <Tree accounts={list.data.accounts} cluster={cluster} edit={setEditing} />
      ) : (
        <NotYet what="the accounts" shown={list} />
      )}
      {editing && (
        <AccountDialog
          key={editing.account}
          account={editing}
          known={list.data?.accounts ?? []}
          kinds={[...cluster.keys()]}
          onClose={() => setEditing(null)}
        />
      )}
    </div>
  );
}

function devicesOfCluster(): Map<string, number> {
  const devices = new Map<string, number>();
  for (const node of nodes.value.values())
    for (const { kind } of node.devices) devices.set(kind, (devices.get(kind) ?? 0) + 1);
  return devices;
}

function Explanation({ accounts }: { accounts: Accounts }) {
  const fair = accounts.policy === "fair-share";
  return (
    <p class="muted explanation">
      Policy {accounts.policy}
      {fair
        ? ": of siblings the one with the smallest factor goes first."
        : ": quotas and limits hold; shares count under fair-share only."}{" "}
      Usage halves in {formatDuration(accounts.half_life_seconds)}.
    </p>
  );
}

interface TreeProperties {
  accounts: Account[];
  cluster: Map<string, number>;
  edit(account: Account): void;
}

function Tree({ accounts, cluster, edit }: TreeProperties) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  if (accounts.length === 0)
    return (
      <Notice kind="empty" title="No accounts yet">
        Jobs name theirs with <code>account: nlp/bert</code>; those that name none run for{" "}
        <code>default</code>.
      </Notice>
    );
  const toggle = (name: string) => {
    const next = new Set(folded);
    if (!next.delete(name)) next.add(name);
    setFolded(next);
  };
  return (
    <div class="panel scroll-x" tabIndex={0} role="region" aria-label="Account tree">
      <table class="table cards accounts">
        <thead>
          <tr>
            <th>Account</th>
            <th class="number">Share</th>
            <th>Kind</th>
            <th>Devices held</th>
            <th class="number" title="Held devices that accounts with quotas may take back">
              Borrowed
            </th>
            <th class="number">Quota</th>
            <th class="number">Limit</th>
            <th class="number">Waiting</th>
            <th class="number" title="What it used, in device hours; older use weighs less">
              Used, hours
            </th>
            <th class="number" title="Device hours used by share: of siblings the smallest goes first">
              Factor, hours
            </th>
            {mayChange.value && (
              <th>
                <span class="visually-hidden">Change</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rowsOf(accounts, folded).map((row) => (
            <Row
              key={row.account.account}
              row={row}
              folded={folded.has(row.account.account)}
              cluster={cluster}
              toggle={toggle}
              edit={edit}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProperties extends Omit<TreeProperties, "accounts"> {
  row: AccountRow;
  folded: boolean;
  toggle(name: string): void;
}

function Row({ row, folded, cluster, toggle, edit }: RowProperties) {
  const { account, kinds } = row;
  const name = account.account;
  const each = (title: string, value: (kind: string) => string) => (
    <td class="number" data-title={title}>
      {kinds.map((kind) => (
        <span key={kind} class="per-kind">
          {value(kind)}
        </span>
      ))}
    </td>
  );
  const usage = (kind: string) => account.usage[kind];
  const count = (value: number | undefined) => (value === undefined ? "–" : formatCount(value));
  return (
    <tr>
      <th scope="row" class={`account-name depth-${Math.min(row.depth, 6)}`}>
        {row.hasChildren ? (
          <button
            type="button"
            class={folded ? "icon-button fold" : "icon-button fold open"}
            aria-expanded={!folded}
            aria-label={`Accounts below ${name}`}
            onClick={() => toggle(name)}
          >
            <ChevronIcon />
          </button>
        ) : (
          <span class="fold" aria-hidden="true" />
        )}
        <a href={`#/jobs?q=account:${name}`} title={`${name}: its jobs`}>
          {row.name}
        </a>
      </th>
      <td class="number" data-title="Share">
        {formatCount(account.share)}
      </td>
      <td data-title="Kind" class="kinds">
        {kinds.map((kind) => (
          <span key={kind} class="per-kind">
            {kind}
          </span>
        ))}
      </td>
      <td data-title="Devices held" class="held-devices">
        {kinds.map((kind) => (
          <Held key={kind} account={account} kind={kind} inCluster={cluster.get(kind) ?? 0} />
        ))}
      </td>
      {each("Borrowed", (kind) => count(usage(kind)?.borrowed ?? 0))}
      {each("Quota", (kind) => count(account.quota[kind]))}
      {each("Limit", (kind) => count(account.limit[kind]))}
      {each("Waiting", (kind) =>
        waitingText(usage(kind)?.waiting_jobs ?? 0, usage(kind)?.waiting_devices ?? 0),
      )}
      {each("Used, hours", (kind) => formatHours(usage(kind)?.device_seconds ?? 0))}
      {each("Factor, hours", (kind) => formatHours(usage(kind)?.factor ?? 0))}
      {mayChange.value && (
        <td class="row-end">
          <Button small name={`Change ${name}`} onPress={() => edit(account)}>
            Change…
          </Button>
        </td>
      )}
    </tr>
  );
}

const waitingText = (jobs: number, devices: number) =>
  jobs === 0 ? "–" : `${formatCount(devices)} in ${jobs === 1 ? "1 job" : `${formatCount(jobs)} jobs`}`;

function Held({ account, kind, inCluster }: { account: Account; kind: string; inCluster: number }) {
  const meter = meterOf(account, kind, inCluster);
  const width = (part: number) => ({ width: `${(100 * part).toFixed(2)}%` });
  return (
    <span class="per-kind held-line">
      <span class={meter.isOver ? "meter over" : "meter"} aria-hidden="true">
        <span class="meter-kept" style={width(meter.kept)} />
        <span class="meter-borrowed" style={width(meter.borrowed)} />
        {meter.quota !== null && (
          <span class="meter-quota" style={{ left: `${(100 * meter.quota).toFixed(2)}%` }} />
        )}
        {meter.limit !== null && (
          <span class="meter-limit" style={{ left: `${(100 * meter.limit).toFixed(2)}%` }} />
        )}
      </span>
      <span
        class={meter.isOver ? "number error-text" : "number"}
        title={meter.isOver ? "More than its limit allows" : undefined}
      >
        {formatCount(account.usage[kind]?.devices ?? 0)}
      </span>
    </span>
  );
}
