// Asks for the user token when something first needs it (state/token.ts).
import { useState } from "preact/hooks";
import { tokenRequest } from "../state/token";
import { Dialog } from "./dialog";

export function TokenDialog() {
  const request = tokenRequest.value;
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  if (!request) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    setToken("");
    if (token.trim()) request.answer(token.trim(), keep);
  };
  return (
    <Dialog title="User token" key={request.why} onClose={() => request.answer(null, false)}>
      <form onSubmit={submit}>
        <p class={request.refused ? "error-text" : ""} role={request.refused ? "alert" : undefined}>
          {request.why}
        </p>
        <p class="muted">
          It is in the coordinator's <code>user.token</code> file.
        </p>
        <label class="field">
          Token
          <input
            type="password"
            autocomplete="off"
            autofocus
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
          Keep it on this device (otherwise until this tab is closed)
        </label>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => request.answer(null, false)}>
            Not now
          </button>
          <button type="submit" class="button button-primary">
            Use this token
          </button>
        </div>
      </form>
    </Dialog>
  );
}
