// The outcomes of the jobs and their differences: both tables have a column for each job, so that the reader can look down
// one job.
import type { ComparedField, ComparedOutcome, Comparison } from "../api/types";
import { formatCount } from "../format/numbers";
import { type CompareSettings } from "../model/compare_address";
import {
  differenceText,
  fieldValues,
  numberOf,
  outcomeName,
  outcomeRule,
  outcomeText,
} from "../model/comparison";
import { pushParams } from "../state/router";
import { Swatch } from "./job_tag";
import { ScrollTable } from "../ui/scroll_table";

interface Properties {
  settings: CompareSettings;
  comparison: Comparison;
}

export function Results({ settings, comparison }: Properties) {
  const { jobs, outcomes, base } = comparison;
  return (
    <section class="panel compare-section" aria-label="Results">
      <header class="panel-head">
        <h2>Results</h2>
        <span class="muted">the best value of a row is bold; differences are from job {base}</span>
      </header>
      <ScrollTable name="Results as a table" looks="compare-table">
        <Head settings={settings} comparison={comparison} title="Measure" />
        <tbody>
          {outcomes.map((outcome) => (
            <tr key={outcomeName(outcome)}>
              <th scope="row">
                <span class="compare-key" title={outcomeRule(outcome)}>
                  {breakable(outcomeName(outcome), nameParts)}
                </span>
              </th>
              {jobs.map(({ id }, index) => {
                const difference = differenceText(numberOf(outcome.differences[index]));
                const step = outcome.steps[index];
                const text = outcomeText(outcome, numberOf(outcome.values[index]), comparison.currency);
                return (
                  <td key={id} class="compare-figure">
                    {outcome.best.includes(id) ? <strong title="The best">{text}</strong> : text}
                    {outcome.measure === "best" && step != null && (
                      <span class="muted"> at {formatCount(step)}</span>
                    )}
                    {difference && <span class="compare-difference"> {difference}</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </ScrollTable>
      {outcomes.length > 0 && <Rules outcomes={outcomes} />}
      {outcomes.length === 0 && (
        <p class="muted panel-text">No results yet: none of these jobs has started.</p>
      )}
    </section>
  );
}

/** Lets a long text break after any of its parts. */
const breakable = (text: string, after: RegExp) =>
  text.split(after).map((part, index) => (index === 0 ? part : [<wbr key={index} />, part]));

const nameParts = /(?<=[/._])/;
const valueParts = /(?<=[/_:@,])/;

/** What makes a value better, for each way of measuring. */
function Rules({ outcomes }: { outcomes: readonly ComparedOutcome[] }) {
  const rules = new Map<string, string[]>();
  for (const outcome of outcomes) {
    const rule = outcomeRule(outcome);
    rules.set(rule, [...(rules.get(rule) ?? []), outcomeName(outcome)]);
  }
  return (
    <details class="compare-rules">
      <summary>How these are measured</summary>
      <dl>
        {[...rules].map(([rule, names]) => (
          <div key={rule}>
            <dt>{names.join(", ")}</dt>
            <dd>{rule}.</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const sections: [ComparedField["section"], string][] = [
  ["spec", ""],
  ["labels", "Labels"],
  ["source", "Code"],
  ["hardware", "Ran on"],
];

export function Parameters({ settings, comparison }: Properties) {
  const shown = comparison.fields.filter(({ differs }) => settings.all || differs);
  return (
    <section class="panel compare-section" aria-label="Parameters">
      <header class="panel-head">
        <h2>Parameters</h2>
        <span class="muted">
          {formatCount(comparison.differing)} differ, {formatCount(comparison.same)} are the same
          {comparison.left_out > 0 && `, ${formatCount(comparison.left_out)} of them are left out`}
        </span>
        <button
          type="button"
          class="chart-switch"
          aria-pressed={settings.all}
          onClick={() => pushParams({ diff: settings.all ? null : "all" })}
        >
          Show those that are the same
        </button>
      </header>
      {shown.length === 0 ? (
        <p class="muted panel-text">No recorded parameter differs.</p>
      ) : (
        <ScrollTable name="Parameters as a table" looks="compare-table">
          <Head settings={settings} comparison={comparison} title="Parameter" />
          {sections.map(([section, title]) => (
            <Fields key={section} title={title} fields={shown.filter((field) => field.section === section)} />
          ))}
        </ScrollTable>
      )}
    </section>
  );
}

function Fields({ title, fields }: { title: string; fields: readonly ComparedField[] }) {
  if (fields.length === 0) return null;
  const columns = fields[0]!.values.length;
  return (
    <tbody>
      {title && (
        <tr class="compare-group">
          <th scope="rowgroup">{title}</th>
          <td colSpan={columns} />
        </tr>
      )}
      {fields.map((field) => (
        <tr key={field.key} class={field.differs ? "" : "is-alike"}>
          <th scope="row">
            <span class="compare-key">{breakable(field.key, nameParts)}</span>
          </th>
          {fieldValues(field).map(({ common, own }, index) => (
            <td key={index}>
              <span class="compare-value" title={common + own}>
                {common && <span class="muted">{breakable(common, valueParts)}</span>}
                {breakable(own, valueParts)}
              </span>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

function Head({ settings, comparison, title }: Properties & { title: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{title}</th>
        {comparison.jobs.map(({ id, name }) => (
          <th key={id} scope="col" title={name}>
            <span class="compare-job">
              <Swatch slot={settings.jobs.indexOf(id)} />
              <span class="number">{id}</span>
              {comparison.base === id && <span class="muted">base</span>}
            </span>
          </th>
        ))}
      </tr>
    </thead>
  );
}
