// Loads the editor's chunk and keeps the text for this tab, so that a visit to another page does not lose it.
import { useEffect, useRef, useState } from "preact/hooks";
import { tabStorage } from "../api/storage";
import type { Editor } from "./editor";

const storageKey = "podium.draft";

const firstDraft = `version: 1
name: my-bert
labels: {team: nlp}
model: {family: bert, layers: 2, hidden: 128, heads: 2, intermediate: 512}
data:
  train: corpus/train.txt
  tokenizer: {wordpiece: corpus/vocab.txt}
training:
  task: pretrain
  precision: bf16
  optimizer: {name: adamw, lr: 1.0e-3, weight_decay: 0.01}
  schedule: {steps: 4000, warmup: 0.1, decay: linear}
  batch: {global: 64, micro: 32}
  sequence_length: 64
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 30m}
checkpoint: {every: 200 steps, keep: 3}
evaluate: {every: 100 steps, data: corpus/heldout.txt}
target: {metric: eval/gain_over_unigram, at_least: 0.4}
`;

export function useEditor(onEdit: () => void) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let gone = false;
    import("./editor").then(
      ({ createEditor }) => {
        if (gone || !host.current) return;
        editor.current = createEditor(host.current, tabStorage.get(storageKey) ?? firstDraft, () => {
          tabStorage.set(storageKey, editor.current?.text() ?? "");
          onEdit();
        });
      },
      () => setError("The editor could not be loaded; reload the page once the coordinator is back."),
    );
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);
  return { host, editor, error };
}
