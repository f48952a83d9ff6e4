// What the API reads: plain rows from a read-only connection, as of the last commit. Use it from one thread
// at a time. Throws SqliteError. The caller adds what only memory knows (why a job waits, who holds a
// device).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/node.h"
#include "common/model/origin.h"
#include "common/model/stream_chunk.h"
#include "common/model/text_identity.h"
#include "coordinator/core/state/state.h"
#include "coordinator/store/board_rows.h"
#include "coordinator/store/job_filter.h"
#include "coordinator/store/ledger_table.h"
#include "coordinator/store/log_files.h"
#include "coordinator/store/retention_due.h"
#include "coordinator/store/retention_rules.h"
#include "coordinator/tracking/comparison.h"
#include "coordinator/tracking/cost.h"
#include "coordinator/tracking/energy.h"
#include "coordinator/tracking/series.h"

namespace podium {

class Database;
class RunReader;
class Statement;

struct Progress {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  Time updated;
};

struct TargetView {
  std::string metric;
  std::optional<double> at_least, at_most;
  std::optional<double> latest, best;
  std::optional<Time> reached;
  std::optional<std::int64_t> reached_step;
};

struct TaskView {
  int rank = 0;
  NodeId node;
  std::vector<int> devices;  // at least one
  TaskPhase phase = TaskPhase::ordered;
  std::int64_t pid = 0;
  std::optional<TaskExit> exit;
};

struct AttemptView {
  int number = 0;
  Time created;
  std::optional<Time> started, ended;
  std::optional<AttemptEnd> end;
  std::string reason;
  std::optional<std::int64_t> first_step, last_step;
  std::vector<TaskView> tasks;
};

// Why a job was started again, counted over all its attempts. The sum is its restarts, or one more while it
// waits to start again.
struct RestartCounts {
  int failures = 0;
  int requeues = 0;     // its program or an operator asked for it
  int moves = 0;        // its program asked for other hardware, or could not run there
  int node_losses = 0;  // its nodes were lost, could not start it, or ended its tasks
  int preemptions = 0;  // it made room for another job
  int resizes = 0;
  int promotions = 0;

  bool operator==(const RestartCounts&) const = default;
};

struct JobView {
  JobId id;
  ExperimentId experiment;
  JobRequest request;
  JobState state = JobState::queued;
  std::string labels;    // JSON object
  bool tracked = false;  // a program elsewhere logs it, and nobody schedules it
  Time submitted;
  std::optional<Time> started, ended;  // of the first attempt; of the job
  int devices = 0;  // that it holds or last held; while queued, the fewest that it may start on
  int attempt = 0;
  int restarts = 0;  // attempts after the first
  RestartCounts restart_counts;
  int restarts_used = 0;  // failures that count against JobRequest::max_restarts; 0 again after a requeue
  Duration ran{};         // run time of the attempts that have ended
  std::optional<Time> running_since;  // start of the attempt that has not ended
  std::string reason;                 // why it failed, or was queued again; "" otherwise
  std::optional<Progress> progress;
  std::map<std::string, double> latest;  // by metric; the first few that the job wrote, and the target's
  std::optional<TargetView> target;
  std::optional<double> time_to_train_seconds;
};

struct JobPage {
  std::vector<JobView> jobs;
  std::int64_t total = 0;                     // that match, over all pages
  std::map<JobState, std::int64_t> by_state;  // that match all but JobFilter::states
  bool more = false;
};

struct ExperimentView {
  ExperimentId id;
  std::string name;
  Time created;
  std::string source;  // JSON or ""
  std::string file;
  std::string spec;  // YAML
  std::vector<JobId> jobs;
  bool listed = false;  // by the spec, and no study
};

// An experiment of several jobs.
struct StudyView {
  ExperimentView experiment;
  std::map<JobState, int> states;  // of its jobs
};

// The decisions so far of a sweep that ends losing trials.
struct TrialView {
  int rung = 1;  // that it trains to; one more than there are: to its end
  bool paused = false;
  std::map<int, RungReport> reports;  // by rung
};
struct SweepView {
  Asha rule;
  std::map<JobId, TrialView> trials;
};

// `other` held devices of the node while `job` did.
struct SharedNode {
  JobId job;
  NodeId node;
  JobId other;

  bool operator==(const SharedNode&) const = default;
};

struct HistoryEntry {
  std::int64_t id = 0;
  Time time;
  std::string type;
  std::string text;
  std::string level;  // info | warning | error
};

struct MetricSummary {
  std::string key;
  std::int64_t count = 0;
  std::int64_t first_step = 0, last_step = 0;
  Time last_time;
  double last = 0, min = 0, max = 0;
  std::int64_t lost = 0;  // points that were set aside because they could not be read
};

struct SeriesView {
  Series points;  // thinned to about the requested number, with the extremes and the first NaN
  std::int64_t lost =
      0;  // to damage of the database, of what had to be read: beside those that have been set aside
};

// Metric points of all jobs that were set aside because they could not be read.
struct DamageView {
  std::int64_t chunks = 0;
  std::int64_t points = 0;
};

struct SubmittedJob {
  std::string spec;  // normalised JSON
  Time at;           // first
};

// What the measuring of a run must know of the cluster's time.
struct RunTimes {
  std::int64_t steps = 0;           // how often it was set, across restarts
  std::optional<Time> first_start;  // of the first attempt that trained
  std::int64_t first_steps = 0;     // until then
};

// What a comparison of jobs reads besides their settings.
struct ComparisonQuery {
  std::vector<std::string> metrics;  // patterns (tracking/comparison.h, matches)
  Time now;                          // running attempts count until then
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& home);
  ~Reader();

  std::optional<JobView> job(JobId job);
  JobPage jobs(const JobFilter& filter);
  std::map<JobState, std::int64_t> job_counts();
  std::vector<AttemptView> attempts(JobId job);
  std::optional<TextIdentity> text_of(JobId job);  // that it trained on; nothing where it has not reported it
  std::optional<Origin> origin_of(JobId job);      // of its first weights, likewise
  std::optional<std::string> job_spec(JobId job);  // normalised JSON
  int newest_attempt(JobId job);                   // including those that only nodes know of; 0: none
  std::optional<SubmittedJob> submitted(JobId job);
  RunTimes run_times(JobId job);
  std::set<std::string> code_in_use();  // sha256 of the code of jobs that have not ended

  std::optional<ExperimentView> experiment(ExperimentId experiment);
  // Newest first, without the YAML. `before`: the last of the previous page.
  std::vector<ExperimentView> experiments(int limit, std::optional<ExperimentId> before);
  std::optional<ExperimentId> experiment_by_key(const std::string& idempotency_key);

  std::optional<StudyView> study(ExperimentId experiment);
  // Newest first, as experiments().
  std::vector<StudyView> studies(int limit, std::optional<ExperimentId> before);
  std::optional<SweepView> sweep(ExperimentId experiment);
  // For the experiment's jobs, sorted by job, node and other.
  std::vector<SharedNode> shared_nodes(ExperimentId experiment);

  // All runs that have reached a target.
  std::vector<BoardRow> board();
  // The runs of the benchmark with this identity, the latest first.
  std::vector<BoardRunView> board_runs(const std::string& identity);

  // In the order in which the coordinator learnt of them; entries after `after`. What a worker tells may be
  // older than entries before it.
  std::vector<HistoryEntry> history(JobId job, std::int64_t after, int limit);

  // All that were ever saved, including those that the job has deleted since; oldest first.
  std::vector<CheckpointView> checkpoints(JobId job);
  std::optional<CheckpointView> newest_checkpoint(JobId job);
  // The jobs whose checkpoints a job that has not ended names by their path, for its first weights, each with
  // that one. Reads all specs.
  std::map<JobId, JobId> read_by_path();

  std::vector<MetricSummary> metrics(JobId job);
  DamageView damage();
  // For a job that this reader has read. Of a long series it reads a few evenly spread chunks.
  ComparedJob compared(const JobView& job, const ComparisonQuery& query);
  // Empty for an unknown key.
  SeriesView series(JobId job, const std::string& key, int points, const StepRange& range = {});

  // For a job that exists.
  LedgerRows ledger(JobId job);
  LedgerTable ledger_table(const LedgerFilter& filter, Time now);
  bool has_energy(JobId job);  // whether any energy of its devices was measured
  EnergySum energy(JobId job, std::optional<Time> until);
  // The devices that each attempt held, with the models that its nodes had then.
  std::vector<HeldDevices> held_devices(JobId job);

  RetentionRules retention_rules();
  bool has_experiment(const std::string& name);
  RetentionDue due(const DueQuery& query);

  RunReader& runs();  // jobs as MLflow's runs (run_reader.h)

  bool is_task_of(TaskId task, const NodeId& node);  // whether the node was given it

  // About `limit` bytes at most, from `offset`; a line in their place says what was not kept.
  LogPart log(TaskId task, StreamKind stream, std::int64_t offset, std::int64_t limit);
  // The last `bytes` bytes.
  LogPart log_tail(TaskId task, StreamKind stream, std::int64_t bytes);
  std::int64_t log_end(TaskId task, StreamKind stream);
  // As start_of_lines() in log_files.h.
  std::optional<std::int64_t> log_lines(TaskId task, StreamKind stream, std::int64_t lines,
                                        std::int64_t& budget);

 private:
  static const char* const kJobColumns;  // "SELECT … FROM jobs ", for job_row()

  std::vector<JobId> jobs_of(ExperimentId experiment);
  JobView job_row(Statement& row);
  void add_latest(JobView& job);
  void add_attempts(JobView& job);

  std::filesystem::path home_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<RunReader> runs_;  // once it was asked for
};

}  // namespace podium
