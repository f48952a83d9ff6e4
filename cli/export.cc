// podium export: whole curves for TensorBoard, spreadsheets and scripts.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/count_progress.h"
#include "cli/counted.h"
#include "cli/curve_export.h"
#include "cli/curves/event_folder.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/metric_option.h"
#include "cli/metric_pattern.h"
#include "cli/new_file.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "common/spec/suggest.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ExportOptions {
  std::vector<std::int64_t> jobs;
  std::string format = "tensorboard";
  std::string out;
  std::vector<std::string> metrics;
  bool wide = false;
};

constexpr char kDefaultFolder[] = "runs";  // where TensorBoard's own writers put them

void require_format(const ExportOptions& options) {
  const std::vector<std::string> formats{"tensorboard", "csv", "jsonl"};
  if (options.format == "arrow" || options.format == "parquet")
    throw Failure(Exit::usage,
                  fmt::format("--format {} is not written: Debian has no packaged library of it. "
                              "pandas, polars and DuckDB read --format csv and jsonl",
                              options.format));
  if (std::ranges::find(formats, options.format) == formats.end()) {
    const auto near = closest(options.format, formats);
    throw Failure(Exit::usage, fmt::format("--format must be tensorboard, csv or jsonl, not \"{}\"{}",
                                           options.format, near ? "; did you mean \"" + *near + "\"?" : ""));
  }
  if (options.wide && options.format != "csv") throw Failure(Exit::usage, "--wide is for --format csv");
}

// Of a name as tracked runs may have it.
std::string folder_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '_');
  if (name.empty() || name.starts_with('.')) name.replace(0, 1, "_");
  return name;
}

// Each has another folder.
void name_runs(std::vector<ExportedJob>& jobs) {
  std::map<std::string, int> names;
  for (ExportedJob& job : jobs) ++names[folder_name(job.run = text_field(job.job, "name"))];
  std::set<std::string> taken;
  for (const auto& [name, count] : names)
    if (count == 1) taken.insert(name);
  for (ExportedJob& job : jobs) {
    if (names[folder_name(job.run)] == 1) continue;
    do job.run += fmt::format("-{}", job.id());
    while (!taken.insert(folder_name(job.run)).second);
  }
}

std::vector<ExportedJob> find_jobs(KeptConnection& connection, const ExportOptions& options) {
  const std::string cluster = text_field(connection.get("/health"), "cluster");
  std::vector<ExportedJob> jobs;
  std::set<std::int64_t> seen;
  std::string others;
  std::uint64_t wanted = 0;
  for (const std::int64_t id : options.jobs) {
    if (!seen.insert(id).second) continue;
    ExportedJob job{connection.get(fmt::format("/jobs/{}", id)), "", run_id_of(cluster, id), {}};
    for (JobMetric& metric : metrics_of(connection, id)) {
      if (!is_chosen(metric.name, options.metrics)) {
        others += (others.empty() ? "" : ", ") + metric.name;
        continue;
      }
      ++wanted;
      if (metric.lost > 0)
        fmt::print(
            stderr,
            "warning: {} points of {} of job {} are lost, because the coordinator's database was damaged\n",
            human_count(static_cast<std::int64_t>(metric.lost)), printable(metric.name), id);
      job.metrics.push_back(std::move(metric));
    }
    jobs.push_back(std::move(job));
  }
  if (wanted == 0)
    throw Failure(Exit::refused, others.empty() ? "there are no points yet"
                                                : "--metric matches none of " + printable(others));
  name_runs(jobs);
  return jobs;
}

// A wide table has columns of its own beside the metrics'.
void require_own_columns(const std::vector<ExportedJob>& jobs) {
  for (const ExportedJob& job : jobs)
    for (const JobMetric& metric : job.metrics)
      if (const std::string& name = metric.name;
          name == "run" || name == "job" || name == "step" || name == "time_ms")
        throw Failure(Exit::refused,
                      fmt::format("job {} has a metric {}, which --wide has a column for already; leave "
                                  "out --wide, or choose others with --metric",
                                  job.id(), name));
}

std::uint64_t points_of(const ExportedJob& job) {
  std::uint64_t points = 0;
  for (const JobMetric& metric : job.metrics) points += metric.points;
  return points;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "podium";
}

// A run's folder, whole or not there. Its file has no name that TensorBoard reads until it is whole.
class RunFolder {
 public:
  explicit RunFolder(const fs::path& path) : path_(path), partial_(new_folder_beside(path)) {}
  ~RunFolder() {
    std::error_code ignored;
    if (!partial_.empty()) fs::remove_all(partial_, ignored);
  }
  fs::path events() const { return partial_ / "events"; }
  void finish(const std::string& name) {
    fs::rename(events(), partial_ / name);
    move_to_free(partial_, path_);
    partial_.clear();
  }

 private:
  fs::path path_, partial_;
};

std::uint64_t export_run(KeptConnection& connection, const ExportedJob& job, const fs::path& path) {
  CountProgress progress(fmt::format("job {}: point", job.id()), points_of(job));
  RunFolder folder(path);
  NewFile file(folder.events());
  const std::uint64_t written = write_events(
      connection, job, [&](std::string_view bytes) { file.write(bytes); },
      [&](std::uint64_t points) { progress.tell(points); });
  file.finish();
  folder.finish(event_file_name(begin_of(job), host_name()));
  return written;
}

// What became of a job.
struct Exported {
  fs::path path;
  std::uint64_t points = 0;
};

std::string words_of(const ExportedJob& job, const Exported& exported) {
  return fmt::format("job {}: {} of {} in {}\n", job.id(), counted(exported.points, "point"),
                     counted(job.metrics.size(), "metric"), printable(exported.path.string()));
}

// Of each as soon as it is there, for what follows may fail.
std::vector<Exported> export_runs(KeptConnection& connection, const std::vector<ExportedJob>& jobs,
                                  const fs::path& folder, const Session& session) {
  std::vector<Exported> runs;
  for (const ExportedJob& job : jobs) runs.push_back({folder / folder_name(job.run)});
  for (const Exported& run : runs) require_free(run.path);
  const MadeFolder made(folder);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    runs[i].points = export_run(connection, jobs[i], runs[i].path);
    if (!session.json) print(words_of(jobs[i], runs[i]));
  }
  return runs;
}

// Without --out to standard output; nothing is told of it then.
std::vector<Exported> export_table(KeptConnection& connection, const std::vector<ExportedJob>& jobs,
                                   const ExportOptions& options) {
  const TableForm form = options.format == "jsonl" ? TableForm::json_lines
                         : options.wide            ? TableForm::wide_csv
                                                   : TableForm::csv;
  std::uint64_t all = 0;
  for (const ExportedJob& job : jobs) all += points_of(job);
  CountProgress progress("point", all);
  const auto tell = [&](std::uint64_t points) { progress.tell(points); };
  if (options.out.empty()) {
    std::string text;
    const auto flush = [&](std::size_t most) {
      if (text.size() <= most) return;
      print(text);
      text.clear();
    };
    write_table(
        connection, jobs, form, [&](std::string_view bytes) { text += bytes, flush(1 << 16); }, tell);
    flush(0);
    return {};
  }
  NewFile file(options.out);
  const std::vector<std::uint64_t> points = write_table(
      connection, jobs, form, [&](std::string_view bytes) { file.write(bytes); }, tell);
  file.finish();
  std::vector<Exported> exported;
  for (const std::uint64_t each : points) exported.push_back({options.out, each});
  return exported;
}

json exported_json(const std::vector<ExportedJob>& jobs, const std::vector<Exported>& exported) {
  json told = json::array();
  for (std::size_t i = 0; i < exported.size(); ++i)
    told.push_back({{"job", jobs[i].id()},
                    {"run", jobs[i].run},
                    {"metrics", jobs[i].metrics.size()},
                    {"points", exported[i].points},
                    {"path", exported[i].path.string()}});
  return {{"exported", std::move(told)}};
}

void run_tensorboard(KeptConnection& connection, const ExportOptions& options, const Session& session) {
  const std::vector<ExportedJob> jobs = find_jobs(connection, options);
  const fs::path folder = options.out.empty() ? kDefaultFolder : options.out;
  const std::vector<Exported> runs = export_runs(connection, jobs, folder, session);
  print(session.json ? exported_json(jobs, runs).dump() + "\n"
                     : fmt::format("tensorboard --logdir {} shows them\n", printable(folder.string())));
}

void run_table(KeptConnection& connection, const ExportOptions& options, const Session& session) {
  if (!options.out.empty()) require_free(options.out);
  const std::vector<ExportedJob> jobs = find_jobs(connection, options);
  if (options.wide) require_own_columns(jobs);
  const std::vector<Exported> exported = export_table(connection, jobs, options);
  if (session.json) print(exported_json(jobs, exported).dump() + "\n");
  for (std::size_t i = 0; i < exported.size() && !session.json; ++i) print(words_of(jobs[i], exported[i]));
}

void run_export(const ExportOptions& options, Session& session) {
  require_format(options);
  const bool is_folder = options.format == "tensorboard";
  if (session.json && !is_folder && options.out.empty())
    throw Failure(Exit::usage,
                  "--json tells what was written, and the points go there, too: --out FILE keeps them apart");
  const Client client(session);
  KeptConnection connection(client);
  try {
    if (is_folder)
      run_tensorboard(connection, options, session);
    else
      run_table(connection, options, session);
  } catch (const Interrupted&) {
    session.exit = Exit::interrupted;
  }
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Write jobs' whole curves for TensorBoard, spreadsheets and scripts");
  add_jobs(*command, options->jobs)->required();
  command
      ->add_option("--format", options->format,
                   "What to write: event files of TensorBoard, or a table of all points")
      ->type_name("{tensorboard,csv,jsonl}")
      ->capture_default_str();
  command
      ->add_option(
          "--out", options->out,
          "The folder of event files, in which each job gets one (default: runs), or the file of the table "
          "(default: standard output)")
      ->type_name("FILE");
  add_metric_patterns(*command, options->metrics);
  command->add_flag("--wide", options->wide, "Of csv: a line a step, a column a metric");
  command->footer(R"(
Nothing is overwritten. TensorBoard shows 32 bits of a value; the tables hold all 64. podium import reads all of them.

Examples:
  podium export 12 13                                  into runs/NAME each; tensorboard --logdir runs
  podium export 12 --format csv --wide --out job12.csv
  podium export 12 --format jsonl --metric 'eval/*' | head -n 3)");
  command->callback([options, &session] { run_export(*options, session); });
}

}  // namespace podium::cli
