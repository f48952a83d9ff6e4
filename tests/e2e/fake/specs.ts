// The git repositories that the fake coordinator watches: one with a spec in each state, one that cannot be reached.
import type { SpecRepository } from "../../../web/src/api/types";

const commit = "3f9c1e7a5b2d4086c1e9f7a3b5d20846a1c3e5f7";

export const makeSpecs = (nowMs: number): SpecRepository[] => [
  {
    name: "experiments",
    url: "https://git.example.org/nlp/experiments.git",
    branch: "main",
    files: "*.yaml",
    commit,
    checked_ms: nowMs - 12_000,
    error: "",
    specs: [
      {
        path: "configs/bert-large.yaml",
        commit,
        state: "refused",
        experiment: null,
        problems: [
          {
            where: "configs/bert-large.yaml:7:14",
            message: '"lamp" is no optimizer; did you mean "lamb"?',
          },
          {
            where: "configs/bert-large.yaml:18:3",
            message: 'the key "walltme" is not known; did you mean "walltime"?',
          },
        ],
      },
      {
        path: "configs/old.yaml",
        commit: "0b1c2d3e4f5a60718293a4b5c6d7e8f901234567",
        state: "left",
        experiment: null,
        problems: [],
      },
      { path: "configs/quickstart.yaml", commit, state: "submitted", experiment: 9000, problems: [] },
      {
        path: "configs/torn.yaml",
        commit,
        state: "refused",
        experiment: null,
        problems: [{ where: "", message: "the file is empty" }],
      },
    ],
  },
  {
    name: "speech",
    url: "ssh://git@git.example.org/speech/a-repository-with-quite-a-long-name.git",
    branch: "",
    files: "specs/*.yaml",
    commit: "",
    checked_ms: null,
    error: "the host git.example.org is not known",
    specs: [],
  },
];
