// Which jobs are compared, and how: the address says it. Pure.

/** The coordinator compares no more jobs. */
export const mostJobs = 50;

export type CompareAxis = "step" | "time" | "tokens";

export interface CompareSettings {
  /** In the order of the address, which determines the colours. */
  jobs: number[];
  /** The first job if none is named. */
  base: number | null;
  /** Jobs whose curves are hidden; `targetId` stands for the targets. */
  hidden: ReadonlySet<number>;
  axis: CompareAxis;
  logarithmic: boolean;
  /** The weight of the moving average; 0 draws the points as measured. */
  smooth: number;
  /** A pattern of metrics, in which * stands for any text; "" for all. */
  keys: string;
  /** What curves are grouped by; null: the reader has not chosen. */
  grouping: string | null;
  /** Curves minus the curve of the base. */
  difference: boolean;
  /** Settings that do not differ are shown too. */
  all: boolean;
  /** Charts that are shown as tables, by metric. */
  tables: ReadonlySet<string>;
}

/** Stands in the list of hidden jobs for hidden targets. */
export const targetId = 0;

const readNumbers = (text: string | null, least = 1): number[] => [
  ...new Set(
    (text ?? "")
      .split(",")
      .filter(Boolean)
      .map(Number)
      .filter((id) => Number.isSafeInteger(id) && id >= least),
  ),
];

export const writeNumbers = (ids: Iterable<number>) => [...ids].join(",");

export function compareSettings(params: URLSearchParams): CompareSettings {
  const jobs = readNumbers(params.get("jobs")).slice(0, mostJobs);
  const [base] = readNumbers(params.get("base"));
  const smooth = Number(params.get("smooth") ?? 0);
  const x = params.get("x");
  return {
    jobs,
    base: base !== undefined && jobs.includes(base) ? base : null,
    hidden: new Set(readNumbers(params.get("hide"), targetId)),
    axis: x === "time" || x === "tokens" ? x : "step",
    logarithmic: params.get("y") === "log",
    smooth: smooth > 0 && smooth < 1 ? smooth : 0,
    keys: params.get("keys") ?? "",
    grouping: params.get("by"),
    difference: params.get("show") === "difference",
    all: params.get("diff") === "all",
    tables: new Set((params.get("table") ?? "").split(",").filter(Boolean)),
  };
}

/** The address of a comparison. */
export const compareHash = (jobs: Iterable<number>) => `#/compare?jobs=${writeNumbers(jobs)}`;
