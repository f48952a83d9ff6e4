// The account tree as a table: siblings are sorted, and the reader can fold what is below an account.
import { useMemo, useState } from "preact/hooks";
import type { Account } from "../api/types";
import { useOrder } from "../hooks/use_order";
import { linesOf, rowsOf } from "../model/account_tree";
import { formatOrder } from "../model/order";
import { DataTable } from "../ui/data_table";
import { accountColumns, accountFigures, jobsOf, type AccountActions } from "./account_columns";
import "../styles/account_table.css";

interface Properties extends Pick<AccountActions, "cluster" | "edit"> {
  accounts: readonly Account[];
}

const usual = { key: "name", descending: false };
const cardHeight = 142;

export function AccountTable({ accounts, cluster, edit }: Properties) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const fold = (account: string, isFolded: boolean) => {
    const next = new Set(folded);
    if (isFolded) next.add(account);
    else next.delete(account);
    setFolded(next);
  };
  const toggle = (account: string) => fold(account, !folded.has(account));
  const columns = accountColumns({ cluster, edit, folded, toggle });
  const { order, valueOf, onSort } = useOrder(accountFigures, usual);
  const { descending } = order;
  const lines = useMemo(
    () => linesOf(rowsOf(accounts, folded, valueOf && { valueOf, descending })),
    [accounts, folded, valueOf, descending],
  );
  return (
    <DataTable
      label="Account tree"
      name="account"
      rows={lines}
      columns={columns}
      order={order}
      onSort={onSort}
      idOf={({ row, kind }) => `${row.account.account}:${kind}`}
      hrefOf={({ row }) => jobsOf(row.account)}
      stable
      view={formatOrder(order)}
      cardHeight={cardHeight}
      onKey={(key, { row }) => {
        const isFolded = { ArrowLeft: true, ArrowRight: false }[key];
        if (isFolded === undefined || !row.hasChildren) return false;
        fold(row.account.account, isFolded);
        return true;
      }}
    />
  );
}
