// The YAML editor, in a chunk of its own that only the submit page loads. CodeMirror uses inline styles and data: images,
// which the coordinator's content security policy therefore allows.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { SpecProblem } from "../model/spec_problems";

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--text)", backgroundColor: "var(--panel)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selected)",
  },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--border)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.number, color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

/** Colours for keys, numbers and comments are enough for a spec; a full YAML grammar would add 11 kB. */
const yaml = StreamLanguage.define<null>({
  token(stream) {
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^[\w./-]+(?=:(\s|$))/)) return "propertyName";
    if (stream.match(/^-?\d[\d_]*(\.\d+)?(e[+-]?\d+)?(?=[\s,\]}]|$)/i)) return "number";
    if (!stream.match(/^("[^"]*"|'[^']*'|[\w./*-]+)/)) stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

export interface Editor {
  text(): string;
  show(problems: readonly SpecProblem[]): void;
  goTo(line: number): void;
  destroy(): void;
}

export function createEditor(host: HTMLElement, initial: string, onChange: () => void): Editor {
  const state = EditorState.create({
    doc: initial,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      lintGutter(),
      yaml,
      syntaxHighlighting(colours),
      look,
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": "Experiment spec, YAML", tabindex: "0" }),
      EditorView.updateListener.of((update) => update.docChanged && onChange()),
    ],
  });
  const view = new EditorView({ state, parent: host });
  return {
    text: () => view.state.doc.toString(),
    show: (problems) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((each) => diagnostic(view, each)),
        ),
      ),
    goTo: (line) => {
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: "center" }),
      });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

function diagnostic(view: EditorView, problem: SpecProblem): Diagnostic {
  const { doc } = view.state;
  const line = doc.line(Math.max(1, Math.min(problem.line ?? 1, doc.lines)));
  const from = Math.min(line.to, line.from + Math.max(0, (problem.column ?? 1) - 1));
  return { from, to: Math.max(from, line.to), severity: "error", message: problem.message };
}
