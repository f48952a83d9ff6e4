// Asks for the user token when it is first needed (state/token.ts).
import { useState } from "preact/hooks";
import { tokenRequest, type TokenRequest } from "../state/token";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";

export function TokenDialog() {
  const request = tokenRequest.value;
  return request && <Question key={request.why} request={request} />;
}

function Question({ request }: { request: TokenRequest }) {
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) request.answer(token.trim(), keep);
  };
  return (
    <Dialog title="User token" onClose={() => request.answer(null, false)}>
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
          Keep it on this device (otherwise the browser forgets it when this tab closes)
        </label>
        <div class="dialog-actions">
          <Button onPress={() => request.answer(null, false)}>Not now</Button>
          <Button submit kind="primary">
            Use this token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
