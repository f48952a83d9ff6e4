// The list of benchmarks: each with its fastest record and a small line of how the record fell.
import type { Benchmark } from "../api/types";
import { formatDuration } from "../format/times";
import { classKey, fastest, holderOf, runsText, stepPath } from "../model/board";

const box = [56, 18] as const;

interface Properties {
  benchmarks: readonly Benchmark[];
  /** The benchmark that is shown. */
  shown: string;
  hrefOf(id: string): string;
  nowMs: number;
}

export function BenchmarkList({ benchmarks, shown, hrefOf, nowMs }: Properties) {
  return (
    <nav class="panel board-list" aria-label="Benchmarks">
      <ul>
        {benchmarks.map((benchmark) => {
          const best = fastest(benchmark.classes);
          const path = best && stepPath(best, nowMs, box);
          return (
            <li key={benchmark.id}>
              <a href={hrefOf(benchmark.id)} aria-current={benchmark.id === shown ? "true" : undefined}>
                <span class="board-name">{benchmark.name}</span>
                <span class="board-line">
                  {best ? (
                    <>
                      <strong class="number">{formatDuration(holderOf(best).seconds)}</strong>
                      <span class="muted">on {classKey(best)}</span>
                    </>
                  ) : (
                    <span class="muted">no record yet</span>
                  )}
                </span>
                {path && (
                  <svg class="board-spark" viewBox={`-1 -1 ${box[0] + 2} ${box[1] + 2}`} aria-hidden="true">
                    <path d={path} />
                  </svg>
                )}
                <span class="muted board-runs">{runsText(benchmark)}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
