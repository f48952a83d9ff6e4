// The files that were collected when a job's processes ended; a click on one saves it.
import { useState } from "preact/hooks";
import { outputAddress } from "../api/client";
import type { JobDetail, JobOutputs } from "../api/types";
import { formatBytes } from "../format/numbers";
import { useOutputs } from "../hooks/use_outputs";
import { summaryOf } from "../model/outputs";
import { AsOf } from "../ui/as_of";
import { FileLink } from "../ui/file_link";
import { NotYet } from "../ui/notice";
import "../styles/run_view.css";

export function OutputList({ job }: { job: JobDetail }) {
  const shown = useOutputs(job);
  const [failure, setFailure] = useState("");
  const { data: list } = shown;
  if (!list) return <NotYet what="the outputs" shown={shown} />;
  return (
    <div class="run-view">
      <p class="panel-text muted">
        <AsOf shown={shown} /> {summaryOf(list)}
      </p>
      {failure !== "" && (
        <p class="panel-text bad" role="alert">
          {failure}
        </p>
      )}
      {list.outputs.length > 0 && <OutputTable list={list} onFailure={setFailure} />}
    </div>
  );
}

interface TableProperties {
  list: JobOutputs;
  onFailure(text: string): void;
}

function OutputTable({ list, onFailure }: TableProperties) {
  const several = list.ranks.length > 1;
  return (
    <table class="run-texts" aria-label="Outputs">
      <tbody>
        {list.outputs.map((output) => (
          <tr key={`${output.rank}/${output.path}`}>
            <th scope="row">
              <FileLink
                name={output.path.slice(output.path.lastIndexOf("/") + 1)}
                text={several ? `rank ${output.rank}: ${output.path}` : output.path}
                address={outputAddress(list.job, list.attempt ?? 0, output)}
                onFailure={onFailure}
              />
            </th>
            <td class="number">{formatBytes(output.bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
