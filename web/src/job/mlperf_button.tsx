// Saves the log of MLPerf Training that a job has written.
import { useState } from "preact/hooks";
import { getMlperfLog } from "../api/client";
import { explain } from "../api/problem";
import type { JobDetail } from "../api/types";
import { Button } from "../ui/button";
import { saveAs } from "../ui/save_as";

export function MlperfButton({ job }: { job: JobDetail }) {
  const [trouble, setTrouble] = useState("");
  if (!(job.spec as { mlperf?: unknown }).mlperf) return null;
  const save = async () => {
    try {
      saveAs(`job-${job.id}-mlperf.txt`, await getMlperfLog(job.id));
      setTrouble("");
    } catch (error) {
      setTrouble(explain(error));
    }
  };
  return (
    <>
      <Button title="Save the log, as MLPerf's result file has it" onPress={() => void save()}>
        MLPerf log
      </Button>
      {trouble && (
        <span class="muted" role="status">
          {trouble}
        </span>
      )}
    </>
  );
}
