// A sweep that ends its losing trials: the outcome of its trials at each rung, in words and in order. Pure.
import type { Asha, Study, StudyMember, Trial } from "../api/types";
import { formatCount, formatNumber } from "../format/numbers";
import { formatDuration } from "../format/times";
import type { Value } from "./order";
import { parametersText } from "./study";

export type TrialMember = StudyMember & { trial: Trial };

export const trialsOf = ({ members }: Pick<Study, "members">): TrialMember[] =>
  members.filter((member): member is TrialMember => member.trial !== null);

/** null stands for a value that is not a number. */
export const valueText = (value: number | null) => (value === null ? "NaN" : formatNumber(value));

export const ruleText = ({ metric, goal, reduction, max_steps }: Asha) =>
  `${goal === "min" ? "The lowest" : "The highest"} ${metric} wins. At each rung, one of ${reduction} trials goes on. ` +
  `A trial that passes the last rung trains to step ${formatCount(max_steps)}.`;

/** The study has ended. */
export const isDecided = ({ state }: Pick<Study, "state">) => state !== "running" && state !== "queued";

/** The best trial of an ended sweep wins if any trial came to its end; else all trials were stopped or failed. */
export const hasWinner = (study: Pick<Study, "state" | "members">) =>
  isDecided(study) && study.members.some(({ state }) => state === "succeeded");

export function bestText(study: Study, { best }: Asha): string {
  const what = hasWinner(study) ? "Winner" : isDecided(study) ? "Best before it ended" : "Best so far";
  if (!best) return `${what}: no trial has reported its metric`;
  const parameters = parametersText(best.parameters as Record<string, unknown>);
  return `${what}: job ${best.job}${parameters && `, ${parameters}`}: ${valueText(best.value)} at step ${formatCount(best.step)}`;
}

/**
 * "12m of about 1h 40m (12 %)": the second time is an estimate for all trials if each trained to its end. It is
 * left out if it is not known.
 */
export function spentText({ device_seconds: spent, full_device_seconds: full }: Asha): string {
  if (full === null || full <= 0) return formatDuration(spent);
  return `${formatDuration(spent)} of about ${formatDuration(full)} (${Math.round((100 * spent) / full)} %)`;
}

export interface RungRow {
  rung: number;
  step: number;
  told: number;
  wentOn: number;
  /** Trials that wait at the rung until more trials have reported. */
  paused: number;
  stopped: number;
}

export function rungRows(asha: Asha, trials: readonly TrialMember[]): RungRow[] {
  const at = (rung: number, state: Trial["state"]) =>
    trials.filter(({ trial }) => trial.rung === rung && trial.state === state && !trial.to_its_end).length;
  return asha.rungs.map(({ rung, step, told, went_on }) => ({
    ...{ rung, step, told, wentOn: went_on },
    ...{ paused: at(rung, "paused"), stopped: at(rung, "stopped") },
  }));
}

export const trialStateText = ({ state, rung }: Trial) =>
  state === "paused" || state === "stopped" ? `${state} at rung ${rung}` : state;

/** undefined: the trial has not reported at this rung. */
export const reportAt = ({ reports }: Trial, rung: number): number | null | undefined =>
  reports.find((report) => report.rung === rung)?.value;

/**
 * A greater number is better: first by the last rung, then by the newest value. A value that is not a number is
 * worst.
 */
export function standing({ trial }: TrialMember, { goal, rungs }: Asha): number {
  const reached = trial.to_its_end ? rungs.length + 1 : trial.rung;
  const value = trial.latest?.value;
  const better = value == null ? -Infinity : goal === "min" ? -value : value;
  return reached * 4 + Math.atan(better) / Math.PI;
}

export interface TrialColumn {
  key: string;
  title: string;
  number?: boolean;
  hint?: string;
  value(member: TrialMember): Value;
  text(member: TrialMember): string;
}

const words = (value: unknown): Value =>
  typeof value === "number" || typeof value === "string" ? value : value === undefined ? null : String(value);

/** The columns of the table after those for the trial's name and state. */
export function trialColumns(asha: Asha, trials: readonly TrialMember[]): TrialColumn[] {
  const paths = [...new Set(trials.flatMap(({ parameters }) => Object.keys(parameters)))];
  return [
    ...paths.map((path) => ({
      key: path,
      title: path.split(".").pop()!,
      hint: path,
      number: true,
      value: ({ parameters }: TrialMember) => words(parameters[path]),
      text: ({ parameters }: TrialMember) => String(parameters[path] ?? "–"),
    })),
    ...asha.rungs.map(({ rung, step }) => ({
      key: `rung${rung}`,
      title: `step ${formatCount(step)}`,
      hint: `${asha.metric} at rung ${rung}`,
      number: true,
      value: ({ trial }: TrialMember) => reportAt(trial, rung) ?? null,
      text({ trial }: TrialMember) {
        const value = reportAt(trial, rung);
        return value === undefined ? "–" : valueText(value);
      },
    })),
    {
      key: "latest",
      title: "latest",
      hint: `The newest ${asha.metric}`,
      number: true,
      value: ({ trial }) => trial.latest?.value ?? null,
      text: ({ trial }) => (trial.latest ? valueText(trial.latest.value) : "–"),
    },
    {
      key: "steps",
      title: "steps",
      number: true,
      value: ({ trial }) => trial.steps,
      text: ({ trial }) => formatCount(trial.steps),
    },
    {
      key: "spent",
      title: "device time",
      number: true,
      value: ({ trial }) => trial.device_seconds,
      text: ({ trial }) => formatDuration(trial.device_seconds),
    },
  ];
}
