// The live table of jobs.
import type { JobListShown } from "../hooks/use_job_list";
import { isStable, sortKeyOf, sortParam } from "../model/job_list";
import { setParams } from "../state/router";
import { DataTable } from "../ui/data_table";
import type { Selection } from "../ui/selection";
import { jobColumns } from "./job_columns";
import "../styles/job_table.css";

const cardHeight = 68;

export function JobTable({ list, selection }: { list: JobListShown; selection: Selection }) {
  const { order } = list.view;
  return (
    <DataTable
      label="Jobs"
      name="job"
      rows={list.rows}
      pending={list.listed.total === null}
      onSight={list.look}
      columns={jobColumns}
      order={order}
      onSort={(key) => setParams({ sort: sortParam(order, sortKeyOf(key)) })}
      idOf={({ id }) => id}
      hrefOf={({ id }) => `#/jobs/${id}`}
      stable={isStable(order)}
      view={list.name}
      cardHeight={cardHeight}
      selection={selection}
      nameOf={({ id }) => `job ${id}`}
    />
  );
}
