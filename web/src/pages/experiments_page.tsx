// Every experiment: its spec, its commit, and the states of its jobs.
import type { Experiment } from "../api/types";
import { formatCount } from "../format/numbers";
import { NamedList } from "../ui/named_list";
import { SourceLine } from "../job/spec_view";
import { useExperimentStates } from "../hooks/use_experiment_states";
import { useExperiments } from "../hooks/use_lists";
import { useSorted } from "../hooks/use_order";
import { useSpecs } from "../hooks/use_specs";
import { countSpecs } from "../model/specs";
import { formatOrder } from "../model/order";
import { DataTable, type Column } from "../ui/data_table";
import { StateCountList } from "../ui/state_counts";
import { Ago } from "../ui/times";
import "../styles/experiments.css";

const specsMs = 60_000;

export function ExperimentsPage() {
  return (
    <NamedList
      one="experiment"
      many="experiments"
      list={useExperiments()}
      table={(rows, text) => <Table experiments={rows} view={text} />}
      hint={
        <>
          Submit one with <code>podium submit experiment.yaml</code> or <a href="#/submit">here</a>.
        </>
      }
      links={
        <>
          <a href="#/studies" class="specs-link">
            Studies
          </a>
          <SpecsLink />
          <a href="#/services" class="specs-link">
            Services
          </a>
        </>
      }
    />
  );
}

/** A link to the specs in git, some of which became no experiment. */
function SpecsLink() {
  const { data } = useSpecs(specsMs);
  const refused = (data ?? []).reduce((sum, { specs }) => sum + countSpecs(specs).refused, 0);
  return (
    <a href="#/specs" class="specs-link">
      Specs in git
      {refused > 0 && <span class="error-text">{formatCount(refused)} refused</span>}
    </a>
  );
}

interface TableProperties {
  experiments: readonly Experiment[];
  view: string;
}

const newestFirst = { key: "id", descending: true };
const cardHeight = 72;

function Table({ experiments, view }: TableProperties) {
  const { rows, order, onSort } = useSorted(experiments, columns, newestFirst);
  return (
    <DataTable
      label="Experiments"
      name="experiment"
      rows={rows}
      columns={columns}
      order={order}
      onSort={onSort}
      idOf={({ id }) => id}
      hrefOf={({ id }) => `#/experiments/${id}`}
      stable
      view={`${view} ${formatOrder(order)}`}
      cardHeight={cardHeight}
    />
  );
}

const columns: readonly Column<Experiment>[] = [
  { key: "id", title: "Id", width: "60px", number: true, value: ({ id }) => id, cell: ({ id }) => id },
  {
    key: "name",
    title: "Name",
    width: "minmax(160px, 2fr)",
    value: ({ name }) => name,
    cell: ({ id, name }) => (
      <a href={`#/experiments/${id}`} tabIndex={-1} title={name}>
        {name}
      </a>
    ),
  },
  {
    key: "jobs",
    title: "Jobs",
    width: "minmax(190px, 2fr)",
    cell: ({ id, jobs }) => <Members id={id} count={jobs.length} />,
  },
  {
    key: "created",
    title: "Created",
    width: "90px",
    from: 560,
    value: ({ created_ms }) => created_ms,
    cell: ({ created_ms }) => <Ago ms={created_ms} />,
  },
  {
    key: "source",
    title: "Source",
    width: "minmax(220px, 3fr)",
    from: 800,
    has: ({ source }) => source?.commit !== undefined,
    cell: ({ source }) => (source?.commit ? <SourceLine source={source} /> : <span class="muted">–</span>),
  },
];

function Members({ id, count }: { id: number; count: number }) {
  const counts = useExperimentStates(id);
  if (!counts) return <span class="muted">{formatCount(count)} in all</span>;
  return <StateCountList counts={counts} />;
}
