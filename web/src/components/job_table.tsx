// The live table of jobs: virtual rows in a grid that the keyboard walks. Rows are given sorted and filtered.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Job } from "../api/types";
import { anchoredScroll, isStable, sortParam, type SortKey, type SortOrder } from "../model/job_list";
import { isTyping } from "../state/keyboard";
import { navigate, setParams } from "../state/router";
import { JobRow } from "./job_row";
import { useMedia } from "./use_media";
import { useVirtual } from "./use_virtual";

const columns: [key: SortKey, title: string][] = [
  ["id", "Job"],
  ["name", "Name"],
  ["state", "State"],
  ["progress", "Progress"],
  ["loss", "Loss"],
  ["throughput", "Throughput"],
  ["devices", "Devices"],
  ["priority", "Priority"],
  ["submitted", "Submitted"],
  ["time", "Time to train"],
];

interface Properties {
  rows: Job[];
  order: SortOrder;
  /** Names the filter and the order: with another one the table starts at its top again. */
  view: string;
}

export function JobTable({ rows, order, view }: Properties) {
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useMedia("(max-width: 719px)");
  const rowHeight = narrow ? 64 : 34;
  const virtualizer = useVirtual(scroller, rows.length, rowHeight);
  const [current, setCurrent] = useState<number | null>(null);
  useAnchor(scroller, rows, order, rowHeight);
  useTopOnChange(scroller, view);

  const open = (job: Job) => navigate(`#/jobs/${job.id}`);
  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    const job = rows[index];
    if (!job) return;
    setCurrent(job.id);
    virtualizer.scrollToIndex(index, { align: "auto" });
  };
  useKeys((event) => {
    const at = rows.findIndex((job) => job.id === current);
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const steps: Record<string, number> = {
      j: 1,
      ArrowDown: 1,
      k: -1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
    };
    const step = steps[event.key];
    if (step !== undefined) move(at < 0 ? 0 : at + step);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Enter" && at >= 0) open(rows[at]!);
    else return false;
    return true;
  });

  const items = virtualizer.getVirtualItems();
  // A row that scrolls out lends its elements to one that scrolls in: filling them anew is cheaper than making them.
  const slots = useRef(0);
  slots.current = Math.max(slots.current, items.length);
  const currentIsRendered = items.some((item) => rows[item.index]?.id === current);
  return (
    <div
      ref={scroller}
      class="job-table"
      role="grid"
      aria-label="Jobs"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={currentIsRendered ? `job-row-${current}` : undefined}
      tabIndex={0}
    >
      <Header order={order} />
      <div role="rowgroup" class="job-rows" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {items.map((item) => {
          const job = rows[item.index];
          return (
            job && (
              <JobRow
                key={item.index % slots.current}
                job={job}
                index={item.index}
                top={item.start}
                height={rowHeight}
                current={job.id === current}
                onOpen={() => open(job)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function Header({ order }: { order: SortOrder }) {
  return (
    <div role="rowgroup" class="job-head">
      <div role="row" class="job-row" aria-rowindex={1}>
        {columns.map(([key, title]) => (
          <span
            key={key}
            role="columnheader"
            class={`c-${key}`}
            aria-sort={order.key !== key ? "none" : order.descending ? "descending" : "ascending"}
          >
            <button
              type="button"
              class="sort-button"
              onClick={() => setParams({ sort: sortParam(order, key) })}
            >
              {title}
              <span class="sort-mark" aria-hidden="true">
                {order.key === key ? (order.descending ? "↓" : "↑") : ""}
              </span>
            </button>
          </span>
        ))}
      </div>
    </div>
  );
}

/** Keeps what is being read in place while jobs come and go above it. */
function useAnchor(
  scroller: { current: HTMLElement | null },
  rows: Job[],
  order: SortOrder,
  rowHeight: number,
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && isStable(order) && before.current !== rows) {
      const next = anchoredScroll(before.current, rows, element.scrollTop, rowHeight);
      if (next !== element.scrollTop) element.scrollTop = next;
    }
    before.current = rows;
  }, [rows]);
}

function useTopOnChange(scroller: { current: HTMLElement | null }, view: string): void {
  const shown = useRef(view);
  useLayoutEffect(() => {
    if (shown.current !== view) scroller.current?.scrollTo({ top: 0 });
    shown.current = view;
  }, [view]);
}

/** The grid's keys work from anywhere on the page but inputs, buttons and links, which have uses for them. */
function useKeys(handle: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event) || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (event.key === "Enter" && target.closest("a, button")) return;
      if (latest.current(event)) event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
