// The keyboard's map, opened with "?".
import { helpOpen } from "../state/keyboard";
import { Dialog } from "./dialog";

const keys: [keys: string[], what: string][] = [
  [["j", "↓"], "Next job"],
  [["k", "↑"], "Previous job"],
  [["PageDown", "PageUp"], "A screenful"],
  [["Home", "End"], "First, last job"],
  [["Enter"], "Open the job"],
  [["/"], "Filter"],
  [["Esc"], "Empty the filter, leave it"],
  [["g", "j"], "Jobs"],
  [["g", "q"], "Queue"],
  [["g", "n"], "Nodes"],
  [["g", "a"], "Accounts"],
  [["g", "e"], "Experiments"],
  [["g", "s"], "Submit"],
  [["t"], "System, light or dark theme"],
  [["?"], "This help"],
];

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
        In the filter, words match names, <code>key:value</code> matches labels and <code>account:nlp</code>{" "}
        an account with those below it. In charts, drag to zoom and double-click to see all again.
      </p>
      <form method="dialog" class="dialog-actions">
        <button class="button">Close</button>
      </form>
    </Dialog>
  );
}
