import { describe, expect, it } from "vitest";
import type { Benchmark, BenchmarkDetails, BoardRun } from "../src/api/types";
import {
  boardChoices,
  boardFilter,
  filtered,
  filteredDetails,
  isFiltered,
  modelOf,
  sizeText,
  taskOf,
} from "../src/model/board_filter";

const of = (address: string) => boardFilter(new URLSearchParams(address));
const records = [{ job: 1, reached_ms: 1, seconds: 1, improvement: null }];
const benchmark = (id: string, identity: object, classes: [string, number][]): Benchmark => ({
  ...{ id, name: id, runs: 1, excluded: 0, identity: identity as Benchmark["identity"] },
  classes: classes.map(([device, devices]) => ({ device, devices, records })),
});

const bert = { task: "pretrain", model: { family: "bert", preset: "bert-large" } };
const own = { task: "lm", model: { family: "gpt", layers: 2, hidden: 128 } };
const program = { command: ["/usr/bin/torchrun", "train/pretrain_gpt.py", "--lr=1"] };
const all = [
  benchmark("bert", bert, [
    ["NVIDIA H200", 8],
    ["NVIDIA H200", 64],
    ["cpu slot", 2],
  ]),
  benchmark("own", own, [["NVIDIA H200", 1024]]),
  benchmark("program", program, []),
];

it("names models, shapes and programs as benchmarks do", () => {
  expect(all.map(modelOf)).toEqual(["bert-large", "gpt-2x128", "torchrun pretrain_gpt.py"]);
  expect(all.map(taskOf)).toEqual(["pretrain", "lm", "command"]);
});

describe("of the address", () => {
  it("numbers of devices are one, a range or open above; what is none is left out", () => {
    const sizes = ["devices=8", "devices=9-64", "devices=513-"].map((address) => of(address).devices!);
    expect(sizes.map(sizeText)).toEqual(["8", "9-64", "513-"]);
    for (const text of ["", "0", "64-8", "many", "-8", "1.5"])
      expect(of(`devices=${text}`).devices).toBeNull();
    expect([isFiltered(of("benchmark=x")), isFiltered(of("task=lm"))]).toEqual([false, true]);
  });

  const left = (address: string) =>
    filtered(all, of(address)).map(({ id, classes }) => [id, ...classes.map((each) => each.devices)]);

  it("a filter leaves benchmarks, and of these the classes that are meant", () => {
    expect(left("")).toEqual([["bert", 8, 64, 2], ["own", 1024], ["program"]]);
    expect(left("model=bert-large")).toEqual([["bert", 8, 64, 2]]);
    expect(left("task=command")).toEqual([["program"]]);
    expect(left("device=NVIDIA H200")).toEqual([
      ["bert", 8, 64],
      ["own", 1024],
    ]);
    expect(left("devices=9-64")).toEqual([["bert", 64]]);
    expect(left("device=cpu slot&devices=9-64")).toEqual([]);
  });

  it("of one benchmark it leaves the runs on such devices, also those that set no record", () => {
    const run = (job: number, models: string[], devices: number[]) =>
      ({ job, device_models: models, devices, excluded: [] }) as unknown as BoardRun;
    const board: BenchmarkDetails = {
      ...all[0]!,
      all: [
        run(1, ["NVIDIA H200"], [8]),
        run(2, ["cpu slot"], [2]),
        run(3, ["cpu slot", "NVIDIA H200"], [2, 64]),
      ],
    };
    const jobs = (address: string) => filteredDetails(board, of(address)).all.map(({ job }) => job);
    expect(jobs("")).toEqual([1, 2, 3]);
    expect(jobs("device=cpu slot")).toEqual([2, 3]);
    expect(jobs("devices=9-64")).toEqual([3]);
    expect(filteredDetails(board, of("devices=9-64")).classes).toHaveLength(1);
  });
});

it("offers what there is, and only where there is a choice or one was made", () => {
  const offered = (some: readonly Benchmark[], address = "") =>
    boardChoices(some, of(address)).map(({ name, value, options }) => [name, value, ...options]);
  expect(offered(all)).toEqual([
    ["model", "", "bert-large", "gpt-2x128", "torchrun pretrain_gpt.py"],
    ["task", "", "command", "lm", "pretrain"],
    ["device", "", "cpu slot", "NVIDIA H200"],
    ["devices", "", "1-8", "9-64", "513-"],
  ]);
  expect(offered(all.slice(1, 2))).toEqual([]);
  expect(offered(all.slice(1, 2), "model=gone&devices=7")).toEqual([
    ["model", "gone", "gpt-2x128", "gone"],
    ["devices", "7", "513-", "7"],
  ]);
});
