// The account tree: shares, quotas and limits, what each account holds, borrows, waits for and has used.
import { useState } from "preact/hooks";
import { getAccounts } from "../api/client";
import type { Account, Accounts } from "../api/types";
import { AccountDialog } from "../account/account_dialog";
import { AccountTable } from "../account/account_table";
import { formatDuration } from "../format/times";
import { AsOf } from "../ui/as_of";
import { Button } from "../ui/button";
import { Notice, NotYet } from "../ui/notice";
import { useNodes } from "../hooks/use_lists";
import { useQuery } from "../hooks/use_query";
import { useScheduling } from "../hooks/use_scheduling";
import { nodes } from "../state/store";
import { mayChange } from "../state/token";

const fresh: Account = { account: "", share: 1, quota: {}, limit: {}, usage: {} };

export function AccountsPage() {
  const list = useQuery("accounts", (signal) => getAccounts(signal), [useScheduling()]);
  useNodes();
  const [editing, setEditing] = useState<Account | null>(null);
  const cluster = devicesOfCluster();
  return (
    <div class="page page-fill">
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
      {!list.data ? (
        <NotYet what="the accounts" shown={list} />
      ) : list.data.accounts.length === 0 ? (
        <NoAccounts />
      ) : (
        <AccountTable
          accounts={list.data.accounts}
          cluster={cluster}
          edit={mayChange.value ? setEditing : null}
        />
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
        ? ": among siblings, the account with the smallest factor goes first."
        : ": quotas and limits hold; shares count under fair-share only."}{" "}
      Past usage counts half after {formatDuration(accounts.half_life_seconds)}.
    </p>
  );
}

function NoAccounts() {
  return (
    <Notice kind="empty" title="No accounts yet">
      A spec names its account with <code>account: nlp/bert</code>. Jobs without one run for{" "}
      <code>default</code>.
    </Notice>
  );
}
