// podium simulate: a trace of jobs on a cluster that need not exist, under the scheduler that would run them.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/commands.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "cli/simulate/report.h"
#include "cli/simulate/scenario.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "common/net/zstd.h"
#include "coordinator/core/policies/policy.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestTrace = std::size_t{4} << 30;  // bytes, unpacked
constexpr std::size_t kShownBadRows = 5;
constexpr int kSparkWidth = 60;
constexpr int kMostAdded = 100'000;

struct SimulateOptions {
  std::string cluster, trace, plot;
  std::string policy = std::string(policy_of(SchedulingOptions{}.policy).name());
  std::vector<std::string> compare;
  RunOptions run;
  double load = 1;
  std::size_t limit = 0;  // 0: all
};

template <class T>
T value_or_refuse(Result<T> result) {
  if (!result) throw Failure(Exit::refused, describe(result.errors()));
  return std::move(result).value();
}

TraceFile read_trace(const SimulateOptions& options) {
  std::string text = read_file(options.trace);
  if (options.trace.ends_with(".zst")) text = value_or_refuse(zstd_decompress(text, kLargestTrace));
  TraceFile trace = value_or_refuse(parse_trace(text, options.trace));
  if (options.limit > 0 && options.limit < trace.rows.size()) trace.rows.resize(options.limit);
  const Time begin = trace.rows.front().submit;
  if (options.load != 1)
    for (TraceRow& row : trace.rows)
      row.submit = begin + Duration(static_cast<std::int64_t>(
                               static_cast<double>((row.submit - begin).count()) / options.load));
  return trace;
}

// One line on standard error that is redrawn while a person waits for more than a second.
class SimulationProgress {
 public:
  SimulationProgress(std::string what, std::size_t jobs) : what_(std::move(what)), jobs_(jobs) {
    if (isatty(STDERR_FILENO) == 1)
      thread_ = std::jthread([this](const std::stop_token& stop) { draw(stop); });
  }
  ~SimulationProgress() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }

  void ended(std::size_t jobs) { ended_ += jobs; }

 private:
  void draw(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    auto pause = std::chrono::milliseconds(1000);
    while (!wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
      if (stop.stop_requested()) return;
      drawn_ = true;
      pause = std::chrono::milliseconds(200);
      std::fprintf(stderr, "\r\x1b[K%s: %s of %s jobs", what_.c_str(),
                   human_count(static_cast<std::int64_t>(ended_.load())).c_str(),
                   human_count(static_cast<std::int64_t>(jobs_)).c_str());
    }
  }

  std::string what_;
  std::size_t jobs_;
  std::atomic<std::size_t> ended_{0};
  std::condition_variable_any wake_;
  bool drawn_ = false;  // read once the thread has ended
  std::jthread thread_;
};

// What a reader must know about the trace and the partitions, a sentence each.
std::vector<std::string> notes_on(const SimulateOptions& options, const TraceFile& trace,
                                  const std::vector<Partition>& partitions) {
  std::vector<std::string> notes;
  if (!trace.bad.empty()) {
    std::string note = fmt::format("{} of {} lines skipped:", human_count(std::ssize(trace.bad)),
                                   human_count(std::ssize(trace.bad) + std::ssize(trace.rows)));
    for (std::size_t i = 0; i < std::min(trace.bad.size(), kShownBadRows); ++i)
      note += fmt::format("\n  {}:{}: {}", options.trace, trace.bad[i].line, trace.bad[i].why);
    if (trace.bad.size() > kShownBadRows) note += "\n  …";
    notes.push_back(std::move(note));
  }
  if (!trace.ignored.empty())
    notes.push_back(fmt::format("columns not used: {}", fmt::join(trace.ignored, ", ")));
  std::string derived;
  for (const Partition& partition : partitions)
    if (partition.derived)
      derived += fmt::format("{}{} ({})", derived.empty() ? "" : ", ", partition.name, partition.devices());
  if (!derived.empty())
    notes.push_back("partitions the cluster does not name, with devices as their jobs need: " + derived);
  if (trace.has_partitions && partitions.size() == 1 && partitions[0].name.empty())
    notes.push_back("the cluster has no partitions: every job may use every node");
  return notes;
}

std::string heading(const SimulateOptions& options, const TraceFile& trace,
                    const std::vector<Partition>& partitions) {
  const auto span = trace.rows.back().submit - trace.rows.front().submit;
  std::int64_t devices = 0;
  for (const Partition& partition : partitions) devices += partition.devices();
  std::string text =
      fmt::format("{} jobs submitted over {} ({}), {} devices", human_count(std::ssize(trace.rows)),
                  human_seconds(static_cast<double>(span.count()) / 1000),
                  std::filesystem::path(options.trace).filename().string(), human_count(devices));
  if (partitions.size() > 1) text += fmt::format(" in {} partitions", partitions.size());
  return text + "\n";
}

// "+4 nodes", "+1 dgx-h100 node"
std::string added_text(const RunOptions& options) {
  return fmt::format("+{} {}node{}", options.add_nodes, options.added ? options.added->kind + " " : "",
                     options.add_nodes == 1 ? "" : "s");
}

// "4" or "4:dgx-h100".
void read_added(const std::string& text, RunOptions& options) {
  const std::size_t colon = text.find(':');
  const std::string number = text.substr(0, colon);
  int nodes = 0;
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos || number.size() > 6 ||
      (nodes = std::stoi(number)) > kMostAdded)
    throw CLI::ValidationError("--add-nodes", "\"" + text + "\" must begin with a number of nodes up to " +
                                                  std::to_string(kMostAdded) + ", like 4 or 4:dgx-h100");
  options.add_nodes = nodes;
  if (colon == std::string::npos) return;
  options.added = group_of_kind(text.substr(colon + 1));
  if (!options.added)
    throw CLI::ValidationError(
        "--add-nodes", fmt::format("\"{}\" is no kind of node; it is one of {}", text.substr(colon + 1),
                                   fmt::join(node_kinds(), ", ")));
}

// Jobs ask for devices of the kind that their partition's first nodes have.
void check_added(const RunOptions& options, const std::vector<Partition>& partitions) {
  if (!options.added) return;
  for (const Partition& partition : partitions)
    if (const NodeGroup& first = partition.groups.front(); first.device_kind != options.added->device_kind)
      throw Failure(
          Exit::refused,
          fmt::format("--add-nodes: {} nodes have {} devices; the jobs run on {} devices, like those of {}",
                      options.added->kind, options.added->device_kind, first.device_kind, first.kind));
}

std::vector<SimulatedRun> run_all(const SimulateOptions& options, const TraceFile& trace,
                                  const std::vector<Partition>& partitions) {
  std::vector<std::string> policies{options.policy};
  policies.insert(policies.end(), options.compare.begin(), options.compare.end());
  std::vector<SimulatedRun> runs;
  for (const std::string& policy : policies)
    for (const int more :
         options.run.add_nodes > 0 ? std::vector{0, options.run.add_nodes} : std::vector{0}) {
      RunOptions run_options = options.run;
      run_options.scheduling.policy = *policy_named(policy);
      run_options.add_nodes = more;
      SimulatedRun& done = runs.emplace_back();
      done.name = policy + (more > 0 ? " " + added_text(run_options) : "");
      SimulationProgress progress(done.name, trace.rows.size());
      done.replay = run(trace.rows, partitions, run_options, [&](std::size_t jobs) { progress.ended(jobs); });
      done.summary = summarise(trace, done.replay);
    }
  return runs;
}

json to_json(const TraceFile& trace, const std::vector<Partition>& partitions,
             const std::vector<SimulatedRun>& runs) {
  json bad = json::array(), parts = json::array(), all = json::array();
  for (const BadRow& row : trace.bad) bad.push_back({{"line", row.line}, {"why", row.why}});
  for (const Partition& partition : partitions)
    parts.push_back({{"name", partition.name},
                     {"devices", partition.devices()},
                     {"jobs", partition.rows.size()},
                     {"derived", partition.derived}});
  for (const SimulatedRun& run : runs) {
    json one = to_json(run.summary);
    one["name"] = run.name;
    all.push_back(std::move(one));
  }
  return {{"jobs", trace.rows.size()}, {"skipped", bad}, {"partitions", parts}, {"runs", all}};
}

void run_simulate(SimulateOptions options, const Session& session) {
  const ClusterFile cluster = value_or_refuse(parse_cluster(read_file(options.cluster), options.cluster));
  options.run.accounts = cluster.accounts;
  const TraceFile trace = read_trace(options);
  const std::vector<Partition> partitions = partitions_of(cluster, trace);
  check_added(options.run, partitions);
  const std::vector<SimulatedRun> runs = run_all(options, trace, partitions);
  const Time begin = trace.rows.front().submit;
  if (!options.plot.empty()) write_file_atomic(options.plot, svg_plot(runs, begin));
  if (session.json) return print(to_json(trace, partitions, runs).dump() + "\n");
  const Terminal terminal = detect_terminal();
  std::string text = heading(options, trace, partitions);
  for (const std::string& note : notes_on(options, trace, partitions)) text += note + "\n";
  text += "\n" + summary_table(runs, terminal);
  text += group_tables(runs, trace.has_accounts ? "ACCOUNT" : "PARTITION", terminal);
  print(text + spark_lines(runs, begin, kSparkWidth));
}

void add_duration(CLI::App& command, const std::string& name, const std::function<void(Duration)>& set,
                  const std::string& help) {
  command
      .add_option_function<std::string>(
          name, [set](const std::string& text) { set(*parse_duration(text)); }, help)
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        return parse_duration(text) ? "" : "\"" + text + "\" is not a duration; write it like 90s or 2h30m";
      });
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Replay a trace of jobs under the real scheduler, without nodes");
  command->add_option("--cluster", options->cluster, "YAML file with the cluster's nodes")
      ->type_name("FILE")
      ->required();
  command->add_option("--trace", options->trace, "CSV file with the jobs, or the same compressed as .zst")
      ->type_name("FILE")
      ->required();
  command->add_option("--policy", options->policy, "The order in which jobs start")
      ->check(CLI::IsMember(policy_names()))
      ->capture_default_str();
  command->add_option("--compare", options->compare, "Further policies to compare with the first")
      ->type_name("NAME")
      ->check(CLI::IsMember(policy_names()));
  command->add_flag("--preempt", options->run.scheduling.preempt,
                    "Under priority-backfill a job may stop running jobs of lower priority");
  command
      ->add_option_function<std::string>(
          "--add-nodes", [options](const std::string& text) { read_added(text, options->run); },
          "Also simulate this many nodes more in each partition, like its first node or of a kind")
      ->type_name("N[:KIND]");
  command->add_option("--load", options->load, "Submit the jobs this many times as fast")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.001, 1000.0));
  command
      ->add_option(
          "--walltime-weight", options->run.scheduling.walltime_weight,
          "Hours of waiting that weigh as much as one of walltime, under priority-backfill and fair-share")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  command
      ->add_option("--walltime-points", options->run.scheduling.walltime_points,
                   "Points of priority that a walltime weighs at most")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      ->add_option("--walltime-factor", options->run.walltime_factor,
                   "Jobs without a walltime ask for 1 to this many times their duration")
      ->type_name("FACTOR")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  add_duration(
      *command, "--checkpoint-every", [options](Duration d) { options->run.model.checkpoint_every = d; },
      "The most work that a stopped job loses; 0s: none [30m]");
  add_duration(
      *command, "--until", [options](Duration d) { options->run.until = d; },
      "End this long after the first submission");
  command->add_option("--limit", options->limit, "Only this many jobs, from the first")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--plot", options->plot, "Write utilisation and queue over time as SVG")
      ->type_name("FILE");
  command->footer(R"(
Examples:
  podium simulate --cluster cluster.yaml --trace jobs.csv
  podium simulate --cluster cluster.yaml --trace jobs.csv --policy fifo --compare priority-backfill
  podium simulate --cluster cluster.yaml --trace jobs.csv --add-nodes 4 --plot more.svg
  podium simulate --cluster cluster.yaml --trace jobs.csv --policy fair-share --add-nodes 2:dgx-h100
  podium simulate --cluster configs/clusters/philly.yaml --trace philly.csv.zst --json

jobs.csv begins with the names of its columns: submit, duration, devices and, where known, account, priority,
walltime, partition, per_node. cluster.yaml is "nodes:" and a list of groups like {kind: dgx-h100, count: 4};
"accounts:" in it gives accounts a share, a quota and a limit: "nlp: {share: 3, quota: {gpu: 64}}".)");
  command->callback([options, &session] { run_simulate(*options, session); });
}

}  // namespace podium::cli
