// Every study, which is a spec that was scaled or swept, and the states of its jobs.
import { useStudies } from "../hooks/use_lists";
import { useSorted } from "../hooks/use_order";
import { formatOrder } from "../model/order";
import { sweptPaths } from "../model/study";
import { DataTable, type Column } from "../ui/data_table";
import { NamedList } from "../ui/named_list";
import { StateCountList } from "../ui/state_counts";
import { Ago } from "../ui/times";
import type { StudyFields } from "../api/types";
import "../styles/study.css";

export function StudiesPage() {
  return (
    <NamedList
      one="study"
      many="studies"
      list={useStudies()}
      table={(rows, text) => <Table studies={rows} view={text} />}
      hint={
        <>
          A spec with <code>scaling:</code> or <code>sweep:</code> becomes one:{" "}
          <a href="#/submit">submit one</a>.
        </>
      }
    />
  );
}

const newestFirst = { key: "id", descending: true };
const cardHeight = 72;

function Table({ studies, view }: { studies: readonly StudyFields[]; view: string }) {
  const { rows, order, onSort } = useSorted(studies, columns, newestFirst);
  return (
    <DataTable
      label="Studies"
      name="study"
      rows={rows}
      columns={columns}
      order={order}
      onSort={onSort}
      idOf={({ id }) => id}
      hrefOf={({ id }) => `#/studies/${id}`}
      stable
      view={`${view} ${formatOrder(order)}`}
      cardHeight={cardHeight}
    />
  );
}

function overText({ scaling, sweep }: StudyFields): string {
  const swept = sweptPaths(sweep);
  return [
    ...(scaling ? [`${scaling.devices.join(", ")} devices`] : []),
    ...(swept.length > 0 ? [swept.join(", ")] : []),
  ].join("; ");
}

const columns: readonly Column<StudyFields>[] = [
  { key: "id", title: "Id", width: "60px", number: true, value: ({ id }) => id, cell: ({ id }) => id },
  {
    key: "name",
    title: "Name",
    width: "minmax(130px, 2fr)",
    value: ({ name }) => name,
    cell: ({ id, name }) => (
      <a href={`#/studies/${id}`} tabIndex={-1} title={name}>
        {name}
      </a>
    ),
  },
  { key: "kind", title: "Kind", width: "70px", value: ({ kind }) => kind, cell: ({ kind }) => kind },
  {
    key: "over",
    title: "Over",
    width: "minmax(110px, 2fr)",
    from: 640,
    cell: (study) => <span title={overText(study)}>{overText(study)}</span>,
  },
  {
    key: "jobs",
    title: "Jobs",
    width: "minmax(190px, 2fr)",
    cell: ({ states }) => <StateCountList counts={states} />,
  },
  {
    key: "created",
    title: "Created",
    width: "90px",
    from: 560,
    value: ({ created_ms }) => created_ms,
    cell: ({ created_ms }) => <Ago ms={created_ms} />,
  },
];
