// Which benchmarks, classes and runs the board shows: the address says it. Pure.
import type { Benchmark, BenchmarkDetails, BoardClass, BoardRun } from "../api/types";

export interface BoardFilter {
  /** The model, or the program. */
  model: string | null;
  task: string | null;
  device: string | null;
  /** A range of numbers of devices, both ends included; without a limit the end is infinite. */
  devices: { from: number; to: number } | null;
}

type Identified = Pick<Benchmark, "identity">;
type Filtered = Pick<Benchmark, "identity" | "classes">;

interface Identity {
  task?: string;
  model?: { preset?: string; family?: string; layers?: number; hidden?: number };
  command?: string[];
}

const lastPart = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** A model's preset or its shape, as in the name of the benchmark; for a program, its words before the first option. */
export function modelOf({ identity }: Identified): string {
  const { model, command = [] } = identity as Identity;
  if (model) return model.preset ?? `${model.family}-${model.layers}x${model.hidden}`;
  const option = command.findIndex((word) => word.startsWith("-"));
  return command
    .slice(0, option < 0 ? command.length : option)
    .map(lastPart)
    .join(" ");
}

export const taskOf = ({ identity }: Identified): string => (identity as Identity).task ?? "command";

const sizes = ["1-8", "9-64", "65-512", "513-"] as const;

/** "8", "9-64" or "513-". */
function readSize(text: string | null): BoardFilter["devices"] {
  const [, from, dash, to] = /^(\d+)(-?)(\d*)$/.exec(text ?? "") ?? [];
  if (from === undefined) return null;
  const [first, last] = [Number(from), to ? Number(to) : dash ? Infinity : Number(from)];
  return first >= 1 && last >= first ? { from: first, to: last } : null;
}

export const sizeText = ({ from, to }: NonNullable<BoardFilter["devices"]>) =>
  to === Infinity ? `${from}-` : from === to ? String(from) : `${from}-${to}`;

export const boardFilter = (params: URLSearchParams): BoardFilter => ({
  model: params.get("model"),
  task: params.get("task"),
  device: params.get("device"),
  devices: readSize(params.get("devices")),
});

export const isFiltered = ({ model, task, device, devices }: BoardFilter) =>
  model !== null || task !== null || device !== null || devices !== null;

const isWithin = ({ devices }: BoardFilter, count: number) =>
  devices === null || (count >= devices.from && count <= devices.to);

const hasClass = (filter: BoardFilter, { device, devices }: BoardClass) =>
  (filter.device === null || filter.device === device) && isWithin(filter, devices);

const hasRun = (filter: BoardFilter, { device_models, devices }: BoardRun) =>
  (filter.device === null || device_models.includes(filter.device)) &&
  (filter.devices === null || devices.some((count) => isWithin(filter, count)));

/**
 * The benchmark with the classes that the filter asks for. It is left out if it has none of them, unless the filter
 * asks for none.
 */
export function filtered<Each extends Filtered>(benchmarks: readonly Each[], filter: BoardFilter): Each[] {
  const byDevice = filter.device !== null || filter.devices !== null;
  return benchmarks
    .filter((each) => filter.model === null || modelOf(each) === filter.model)
    .filter((each) => filter.task === null || taskOf(each) === filter.task)
    .map((each) => ({ ...each, classes: each.classes.filter((one) => hasClass(filter, one)) }))
    .filter(({ classes }) => !byDevice || classes.length > 0);
}

/** One benchmark, reduced to what the filter asks for. */
export const filteredDetails = (board: BenchmarkDetails, filter: BoardFilter): BenchmarkDetails => ({
  ...board,
  classes: board.classes.filter((one) => hasClass(filter, one)),
  all: board.all.filter((run) => hasRun(filter, run)),
});

export interface BoardChoice {
  name: keyof BoardFilter;
  title: string;
  /** As the address has it; "" stands for any. */
  value: string;
  options: string[];
}

/** The choices to offer: only where there is more than one, or where one was made. */
export function boardChoices(benchmarks: readonly Filtered[], filter: BoardFilter): BoardChoice[] {
  const classes = benchmarks.flatMap((each) => each.classes);
  const size = filter.devices && sizeText(filter.devices);
  const ofSize = (text: string) => {
    const devices = readSize(text);
    return classes.some((each) => isWithin({ ...filter, devices }, each.devices));
  };
  const choice = (
    name: keyof BoardFilter,
    title: string,
    value: string | null,
    known: Iterable<string>,
  ): BoardChoice => ({
    ...{ name, title, value: value ?? "" },
    options: [...new Set([...known, ...(value === null ? [] : [value])])],
  });
  const sorted = (values: string[]) =>
    [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return [
    choice("model", "Model", filter.model, sorted(benchmarks.map(modelOf))),
    choice("task", "Task", filter.task, sorted(benchmarks.map(taskOf))),
    choice("device", "Device", filter.device, sorted(classes.map(({ device }) => device))),
    choice("devices", "How many", size, sizes.filter(ofSize)),
  ].filter(({ value, options }) => value !== "" || options.length > 1);
}
