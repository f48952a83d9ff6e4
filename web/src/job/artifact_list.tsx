// The files of a run, folder by folder; a click on a file saves it.
import { useState } from "preact/hooks";
import { artifactAddress } from "../api/client";
import type { ArtifactEntry, JobDetail } from "../api/types";
import { formatBytes } from "../format/numbers";
import { useArtifacts } from "../hooks/use_tracking";
import { pushParams, route } from "../state/router";
import { FileLink } from "../ui/file_link";
import { NotYet } from "../ui/notice";

interface Properties {
  job: JobDetail;
  /** The folder of the run, as its tracking has it. */
  root: string;
}

const open = (folder: string) => pushParams({ artifacts: folder === "" ? null : folder });
const below = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

export function ArtifactList({ job, root }: Properties) {
  const folder = route.value.params.get("artifacts") ?? "";
  const shown = useArtifacts(job, folder);
  const [failure, setFailure] = useState("");
  const { data: entries } = shown;
  return (
    <>
      {folder !== "" && <Trail folder={folder} />}
      {failure !== "" && (
        <p class="panel-text bad" role="alert">
          {failure}
        </p>
      )}
      {!entries && <NotYet what="the artifacts" shown={shown} />}
      {entries?.length === 0 && (
        <p class="muted panel-text">{folder === "" ? "None logged." : "There is nothing here."}</p>
      )}
      {entries && entries.length > 0 && (
        <table class="run-texts">
          <tbody>
            {entries.map((entry) => (
              <Entry key={entry.name} entry={entry} folder={folder} root={root} onFailure={setFailure} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

interface EntryProperties {
  entry: ArtifactEntry;
  folder: string;
  root: string;
  onFailure(text: string): void;
}

function Entry({ entry, folder, root, onFailure }: EntryProperties) {
  const path = below(folder, entry.name);
  return (
    <tr>
      <th scope="row">
        {entry.folder ? (
          <button type="button" class="link-button" onClick={() => open(path)}>
            {entry.name}/
          </button>
        ) : (
          <FileLink name={entry.name} address={artifactAddress(root, path)} onFailure={onFailure} />
        )}
      </th>
      <td class="number">{entry.folder ? "" : formatBytes(entry.bytes)}</td>
    </tr>
  );
}

/** The folders above the one that is shown. */
function Trail({ folder }: { folder: string }) {
  const parts = folder.split("/");
  return (
    <nav class="panel-text artifact-trail" aria-label="Folder of artifacts">
      <button type="button" class="link-button" onClick={() => open("")}>
        artifacts
      </button>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join("/");
        return (
          <span key={path}>
            {" / "}
            {index === parts.length - 1 ? (
              <span aria-current="location">{part}</span>
            ) : (
              <button type="button" class="link-button" onClick={() => open(path)}>
                {part}
              </button>
            )}
          </span>
        );
      })}
    </nav>
  );
}
