// The list of keys, opened with "?".
import { routes } from "../routes";
import { helpOpen, setShortcuts, shortcuts } from "../state/keyboard";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";

const lists: [keys: string[], what: string][] = [
  [["j", "↓"], "Next row"],
  [["k", "↑"], "Previous row"],
  [["PageDown", "PageUp"], "A screenful"],
  [["Home", "End"], "First, last row"],
  [["Enter"], "Open the row"],
  [["x"], "Select the row"],
  [["/"], "Filter"],
  [["Esc"], "Clear the filter, then leave it"],
];
const others: [keys: string[], what: string][] = [
  [["0"], "Show the whole range of the charts"],
  [["t"], "System, light or dark theme"],
  [["?"], "This help"],
];
const pages = routes.flatMap(({ key, title }): [string[], string][] =>
  key === null ? [] : [[["g", key], title]],
);
const keys = [...lists, ...pages, ...others];

export function HelpDialog() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title="Keyboard" onClose={() => (helpOpen.value = false)}>
      <dl class="keys">
        {keys.map(([names, what]) => (
          <div key={what}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        In the filter, words match names, <code>key:value</code> matches labels, <code>account:nlp</code>{" "}
        matches an account and those below it, and a number matches a job. In charts, drag to zoom in and
        double-click to zoom out.
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={shortcuts.value}
          onChange={(event) => setShortcuts(event.currentTarget.checked)}
        />
        Single letters are shortcuts
      </label>
      <form method="dialog" class="dialog-actions">
        <Button submit>Close</Button>
      </form>
    </Dialog>
  );
}
