// The jobs of a study, and what to know about each before trusting its figures.
import type { Study } from "../api/types";
import { formatCount } from "../format/numbers";
import { formatDuration } from "../format/times";
import { parametersText } from "../model/study";
import { JobStateBadge } from "../ui/badges";
import { NumberHead, ScrollTable } from "../ui/scroll_table";

export function Warnings({ study }: { study: Study }) {
  if (study.warnings.length === 0) return null;
  return (
    <section class="panel study-warnings" aria-label="Warnings">
      <header class="panel-head">
        <h2>Before you trust these figures</h2>
        <span class="muted">{formatCount(study.warnings.length)}</span>
      </header>
      <ul tabIndex={0} aria-label="What to know about these jobs">
        {study.warnings.map(({ code, job, sentence }) => (
          <li key={`${code} ${job} ${sentence}`} class={`warning-${code}`}>
            <a href={`#/jobs/${job}`} class="number">
              {job}
            </a>{" "}
            {sentence}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Members({ study }: { study: Study }) {
  const swept = study.members.some(({ parameters }) => Object.keys(parameters).length > 0);
  const seeded = study.members.some(({ seed }) => seed !== null);
  return (
    <section class="panel" aria-label="Jobs">
      <header class="panel-head">
        <h2>Jobs</h2>
        <span class="muted">{formatCount(study.members.length)}</span>
      </header>
      <ScrollTable name="Jobs as a table" looks="cards" frame="study-members">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <NumberHead>Devices</NumberHead>
            {swept && <th scope="col">Swept</th>}
            {seeded && <NumberHead>Seed</NumberHead>}
            <NumberHead>Restarts</NumberHead>
            <NumberHead>Time to train</NumberHead>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {study.members.map((member) => (
            <tr key={member.job}>
              <th scope="row">
                <a href={`#/jobs/${member.job}`}>
                  <span class="number">{member.job}</span> {member.name}
                </a>
              </th>
              <td class="study-state">
                <JobStateBadge state={member.state} />
              </td>
              <td class="number" data-title="Devices">
                {member.devices} <span class="muted">{member.kind}</span>
              </td>
              {swept && <td data-title="Swept">{parametersText(member.parameters)}</td>}
              {seeded && (
                <td class="number" data-title="Seed">
                  {member.seed ?? "–"}
                </td>
              )}
              <td class="number" data-title="Restarts">
                {member.restarts}
              </td>
              <td class="number" data-title="Time to train">
                {member.time_to_train_seconds === null ? "–" : formatDuration(member.time_to_train_seconds)}
              </td>
              <td class="study-reason">{member.reason}</td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </section>
  );
}
