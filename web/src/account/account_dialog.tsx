// The dialog that changes the share, quota and limit of an account, or makes a new one.
import { useState } from "preact/hooks";
import { changeAccount } from "../api/client";
import type { Account } from "../api/types";
import { isAccountName, kindsOf, readAccount, textOf } from "../model/account_tree";
import { applyAccount } from "../state/store";
import { OperationDialog, Wrong } from "../ui/operation_dialog";
import { useOperation } from "../hooks/use_operation";

interface Properties {
  /** A new account has the name "". */
  account: Account;
  known: readonly Account[];
  /** The kinds of devices in the cluster. */
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
        "The name of an account consists of letters, digits, '.', '_' and '-' between slashes: nlp or nlp/bert.";
    else if (isNew && known.some((other) => other.account === name))
      refused = `The account ${name} exists already.`;
    const change = readAccount(account, text);
    if (!refused && typeof change === "string") refused = change;
    if (!refused && isNew && change === null)
      refused = "A new account needs a share other than 1, a quota or a limit.";
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
          Full name, such as nlp/bert
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
        Share of the parent's devices, relative to the siblings
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
        Devices beyond the quota are borrowed. The scheduler reclaims them when a job waits that the quota
        of its own account covers. No account exceeds its limit.
      </p>
      <Wrong text={wrong} />
    </OperationDialog>
  );
}
