// Which metrics share a chart, and what the chart shows beside the curves.
import type { Attempt, Target } from "../api/types";
import { threshold } from "./progress";
import type { XAxis } from "./series";

export interface MetricGroup {
  id: string;
  title: string;
  keys: string[];
  /** Drawn only after a click in the legend, because it would flatten the other curves. */
  hiddenAtFirst: string[];
  /** The name of the y axis and its unit. */
  y: { title: string; unit?: string; numbers: "plain" };
}

const isLoss = (key: string) => /loss$/.test(key);
const isAccuracy = (key: string) => /(accuracy|f1|exact_match|mcc|pearson|spearman)$/.test(key);
const isThroughput = (key: string) => /_per_second$/.test(key);

/** Loss, the target's own chart if no other has it, accuracy, throughput; then one small chart for each other key. */
export function groupCharts(keys: readonly string[], target: Target | null): MetricGroup[] {
  const sorted = inOrder(keys);
  const losses = sorted.filter(isLoss);
  const accuracies = sorted.filter(isAccuracy);
  const throughputs = sorted.filter(isThroughput);
  const targets = sorted.filter(
    (key) => key === target?.metric && !isLoss(key) && !isAccuracy(key) && !isThroughput(key),
  );
  const rest = sorted.filter((key) => ![...losses, ...accuracies, ...throughputs, ...targets].includes(key));
  const tokens = throughputs.filter((key) => key.endsWith("tokens_per_second"));
  const small = losses.includes("train/mlm_loss") ? losses.filter((key) => key.endsWith("nsp_loss")) : [];
  const groups: MetricGroup[] = [
    { id: "loss", title: "Loss", keys: losses, hiddenAtFirst: small, y: yOf("loss", losses) },
    { id: "target", title: "Target", keys: targets, hiddenAtFirst: [], y: yOf(wordsOf(targets[0]), targets) },
    {
      id: "accuracy",
      title: "Accuracy",
      keys: accuracies,
      hiddenAtFirst: [],
      y: yOf("accuracy", accuracies),
    },
    {
      id: "throughput",
      title: "Throughput",
      keys: throughputs,
      hiddenAtFirst: tokens.length < throughputs.length ? tokens : [],
      y: { title: "throughput", unit: "per second", numbers: "plain" },
    },
    ...rest.map((key) => ({
      id: key,
      title: titleOf(key),
      keys: [key],
      hiddenAtFirst: [],
      y: yOf(wordsOf(key), [key]),
    })),
  ];
  return groups.filter((group) => group.keys.length > 0);
}

const wordsOf = (key = "") => (key.split("/").pop() ?? key).replace(/_/g, " ");

function titleOf(key: string): string {
  const words = wordsOf(key);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What Podium's own training program measures in nats. The units of other programs are not known. */
const inNats = /^(train|eval)\/((mlm_|nsp_|unigram_)?loss|gain_over_unigram)$/;

function yOf(title: string, keys: readonly string[]): MetricGroup["y"] {
  const nats = keys.length > 0 && keys.every((key) => inNats.test(key));
  return { title, numbers: "plain", ...(nats ? { unit: "nats" } : {}) };
}

export interface Mark {
  x: number;
  label: string;
}

/** One mark where each attempt after the first begins. */
export function attemptMarks(attempts: readonly Attempt[], axis: XAxis, startMs: number): Mark[] {
  return attempts.slice(1).map((attempt) => ({
    x:
      axis === "step"
        ? (attempt.first_step ?? NaN)
        : ((attempt.started_ms ?? attempt.created_ms) - startMs) / 1000,
    label: `attempt ${attempt.number}`,
  }));
}

export const targetLine = (group: MetricGroup, target: Target | null) =>
  target && group.keys.includes(target.metric) ? threshold(target) : null;

/**
 * Training comes before evaluation. The order depends on nothing else, so a series keeps its colour from visit to
 * visit.
 */
function inOrder(keys: readonly string[]): string[] {
  const rank = (key: string) => (key.startsWith("train/") ? 0 : 1);
  return [...keys].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
