// A page that lists all things of one kind, filtered by name. The address has the text of the filter.
import type { ComponentChildren } from "preact";
import { formatCount } from "../format/numbers";
import type { Shown } from "../hooks/use_query";
import { route } from "../state/router";
import { AsOf } from "./as_of";
import { FilterBox } from "./filter_box";
import { NoRows, NotYet } from "./notice";

interface Properties<T> {
  one: string;
  many: string;
  list: Shown<readonly T[]>;
  /** `text`: the filter. */
  table: (rows: readonly T[], text: string) => ComponentChildren;
  /** Shown if there are none at all: how to make one. */
  hint: ComponentChildren;
  /** At the end of the toolbar. */
  links?: ComponentChildren;
}

export function NamedList<T extends { name: string }>({
  one,
  many,
  list,
  table,
  hint,
  links,
}: Properties<T>) {
  const title = <h1 class="visually-hidden">{many[0]!.toUpperCase() + many.slice(1)}</h1>;
  if (!list.data)
    return (
      <div class="page">
        {title}
        <NotYet what={`the ${many}`} shown={list} />
      </div>
    );
  const text = route.value.params.get("q") ?? "";
  const matching = list.data.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <div class="page page-fill">
      {title}
      <div class="toolbar">
        <FilterBox value={text} label={`Filter ${many}`} placeholder="Filter by name" />
        <span class="toolbar-summary muted" role="status">
          {formatCount(matching.length)} {matching.length === 1 ? one : many}
        </span>
        <AsOf shown={list} />
        {links}
      </div>
      {matching.length > 0 ? (
        table(matching, text)
      ) : (
        <NoRows one={one} list={list} complete filtered={list.data.length > 0} empty={`No ${many} yet`}>
          {hint}
        </NoRows>
      )}
    </div>
  );
}
