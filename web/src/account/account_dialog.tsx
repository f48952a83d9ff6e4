// Share, quota and limit of one account, or of a new one.
import { useState } from "preact/hooks";
import { changeAccount } from "../api/client";
import type { Account } from "../api/types";
import { isAccountName, kindsOf, readAccount, textOf } from "../model/account_tree";
import { applyAccount } from "../state/store";
import { OperationDialog, Wrong } from "../ui/operation_dialog";
import { useOperation } from "../hooks/use_operation";

interface Properties {
  /** Its name is "" for a new one. */
  account: Account;
  known: readonly Account[];
  /** Of devices in the cluster. */
  kinds: readonly string[];
  onClose(): void;
}

export function AccountDialog({ account, known, kinds: inCluster, onClose }: Properties) {
  const kinds = [...new Set([...inCluster, ...kindsOf(account)])].sort();
  const [text, setText] = useState(() => textOf(account, kinds));
  const [wrong, setWrong] = useState("");
  const operation = useOperation();
  const isNew = account.account === "";
  const submit = async () => {
    const name = text.account.trim();
    let refused = "";
    if (!isAccountName(name))
      refused =
        "An account is written as nlp or nlp/bert: letters, digits, '.', '_' and '-' between slashes.";
    else if (isNew && known.some((other) => other.account === name)) refused = `There is an account ${name}.`;
    const change = readAccount(account, text);
    if (!refused && typeof change === "string") refused = change;
    if (!refused && isNew && change === null)
      refused = "An account is made by giving it a share other than 1, a quota or a limit.";
    setWrong(refused);
    if (refused || typeof change === "string") return;
    if (change === null) return onClose();
    const done = applyAccount;
    if (await operation.run((token) => changeAccount(name, change, token), done)) onClose();
  };
  return (
    <OperationDialog
      title={isNew ? "New account" : `Account ${account.account}`}
      action={isNew ? "Make it" : "Change it"}
      operation={operation}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      {isNew && (
        <label class="field">
          Name, after those above it: nlp/bert
          <input
            type="text"
            autofocus
            required
            maxLength={100}
            spellcheck={false}
            value={text.account}
            onInput={(event) => setText({ ...text, account: event.currentTarget.value })}
          />
        </label>
      )}
      <label class="field">
        Share of what its parent gets, against its siblings
        <input
          type="number"
          min={1}
          max={1_000_000}
          step={1}
          required
          value={text.share}
          onInput={(event) => setText({ ...text, share: event.currentTarget.value })}
        />
      </label>
      {kinds.map((kind) => (
        <div key={kind} class="field-pair">
          {(["quota", "limit"] as const).map((rule) => (
            <label key={rule} class="field">
              {kind} {rule} {rule === "quota" ? "(guaranteed)" : "(at most)"}
              <input
                type="number"
                min={0}
                step={1}
                placeholder="none"
                value={text[rule][kind]}
                onInput={(event) =>
                  setText({ ...text, [rule]: { ...text[rule], [kind]: event.currentTarget.value } })
                }
              />
            </label>
          ))}
        </div>
      ))}
      <p class="muted">
        What is held beyond a quota is borrowed, and taken back when a job within its account's quota waits. A
        limit is never exceeded.
      </p>
      <Wrong text={wrong} />
    </OperationDialog>
  );
}
