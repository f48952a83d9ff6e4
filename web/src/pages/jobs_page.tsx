// All jobs.
import { JobList } from "../job/job_list";

export function JobsPage() {
  return (
    <div class="page page-fill">
      <h1 class="visually-hidden">Jobs</h1>
      <JobList experiment={null} />
    </div>
  );
}
