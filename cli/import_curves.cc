// podium import tensorboard, csv and jsonl: curves of other programs as tracked runs.
#include "cli/import_curves.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "cli/client.h"
#include "cli/counted.h"
#include "cli/curve_import.h"
#include "cli/curves/event_folder.h"
#include "cli/curves/text_curves.h"
#include "cli/metric_option.h"
#include "cli/metric_pattern.h"
#include "cli/print.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct CurveOptions {
  std::string path, experiment, run;
  std::vector<std::string> metrics;
  bool again = false;
};

constexpr std::size_t kMostNamed = 10;  // of the tags that are left out

// What a file without its ending, or a folder is called.
std::string stem_of(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  const fs::path name = full.has_filename() ? full : full.parent_path();
  return (fs::is_directory(path) ? name.filename() : name.stem()).string();
}

void require_kind(const std::string& path, fs::file_type kind, const char* words) {
  const fs::file_type found = fs::status(path).type();
  if (found == fs::file_type::not_found) throw Failure(Exit::usage, path + ": No such file or folder");
  if (found != kind) throw Failure(Exit::usage, fmt::format("{} is not {}", path, words));
}

std::string others_text(const EventStream& stream) {
  std::string names;
  std::size_t named = 0;
  for (const std::string& tag : stream.others())
    if (named++ < kMostNamed) names += (names.empty() ? "" : ", ") + tag;
  if (named > kMostNamed) names += fmt::format(" and {} more", named - kMostNamed);
  return fmt::format("{}: what is no scalar is left out: {}", stream.run(), names);
}

std::vector<EventFolder> named_folders(const CurveOptions& options) {
  const std::string own = options.run.empty() ? stem_of(options.path) : options.run;
  std::vector<EventFolder> folders = event_folders(options.path);
  const auto of_name = [&](const std::string& run) {
    return std::ranges::find(folders, run, &EventFolder::run);
  };
  const auto above = of_name(".");
  if (above == folders.end()) return folders;
  if (of_name(own) != folders.end())
    throw Failure(Exit::usage,
                  fmt::format("{} and its folder {} would both be the run {}; --run names the first",
                              options.path, own, own));
  above->run = own;
  return folders;
}

CurveSource events_in(const CurveOptions& options) {
  require_kind(options.path, fs::file_type::directory, "a folder");
  const auto streams = std::make_shared<std::vector<EventStream>>();
  for (EventFolder& folder : named_folders(options)) streams->emplace_back(std::move(folder));
  if (streams->empty())
    throw Failure(Exit::usage, options.path + " has no event files: their names have tfevents in them");
  CurveSource source{"tensorboard", fs::absolute(options.path).lexically_normal().string(), {}, {}, {}};
  for (const fs::path& link : linked_folders(options.path))
    source.warnings.push_back(link.string() +
                              " is a link to a folder, and is left out; import what it names");
  for (const EventStream& stream : *streams) {
    source.parameters[stream.run()] = stream.parameters();
    for (const std::string& broken : stream.broken())
      source.warnings.push_back(broken + "; what comes before it is taken");
    if (!stream.others().empty()) source.warnings.push_back(others_text(stream));
  }
  source.read = [streams](const std::function<void(const TaggedPoint&)>& take) {
    for (const EventStream& stream : *streams) {
      TaggedPoint tagged{stream.run(), "", {}};
      stream.read([&](const std::string& metric, const CurvePoint& point) {
        tagged.metric = metric;
        tagged.point = point;
        take(tagged);
      });
    }
  };
  return source;
}

std::int64_t changed_ms(const fs::path& path) {
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(path));
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

using ReadTable = Errors (*)(std::istream&, const TextCurves&, const TakePoint&);

CurveSource table_in(const CurveOptions& options, const char* format, ReadTable read) {
  require_kind(options.path, fs::file_type::regular, "a file, which is read twice");
  const std::string stem = stem_of(options.path), run = options.run.empty() ? stem : options.run;
  const TextCurves curves{
      options.path, stem, changed_ms(options.path),
      [metrics = options.metrics](const std::string& metric) { return is_chosen(metric, metrics); }};
  CurveSource source{format, fs::absolute(options.path).lexically_normal().string(), {}, {}, {}};
  source.read = [=](const std::function<void(const TaggedPoint&)>& take) {
    std::ifstream text(options.path, std::ios::binary);
    if (!text) throw std::system_error(errno, std::generic_category(), "cannot read " + options.path);
    const Errors errors = read(text, curves, [&](const TaggedPoint& tagged) {
      if (!tagged.run.empty()) return take(tagged);
      TaggedPoint named = tagged;
      named.run = run;
      take(named);
    });
    if (text.bad()) throw std::system_error(EIO, std::generic_category(), "cannot read " + options.path);
    if (!errors.empty()) throw Failure(Exit::refused, describe(errors) + "\nnothing was imported");
  };
  return source;
}

void tell_import(const Import& import, const Session& session) {
  json runs = json::array();
  for (const ImportedRun& run : import.runs)
    runs.push_back({{"run", run.name},
                    {"job", run.job},
                    {"points", run.points},
                    {"metrics", run.metrics},
                    {"outcome", run.outcome}});
  if (session.json)
    return print(json{{"runs", std::move(runs)}, {"warnings", import.warnings}}.dump() + "\n");
  for (const std::string& warning : import.warnings)
    std::fprintf(stderr, "warning: %s\n", printable(warning).c_str());
  for (const ImportedRun& run : import.runs)
    print(fmt::format("{}: {} as job {}, {} of {}\n", printable(run.name), run.outcome, run.job,
                      counted(run.points, "point"), counted(run.metrics, "metric")));
}

template <class Open>
void run_curve_import(const CurveOptions& options, Session& session, Open open) {
  const CurveSource source = open(options);
  const ImportWish wish{options.experiment.empty() ? stem_of(options.path) : options.experiment,
                        [&](const std::string& metric) { return is_chosen(metric, options.metrics); },
                        options.again};
  const Client client(session);
  KeptConnection connection(client);
  try {
    tell_import(import_curves(connection, source, wish), session);
  } catch (const Interrupted&) {
    session.exit = Exit::interrupted;
  }
}

void add_options(CLI::App& command, CurveOptions& options) {
  command
      .add_option("--experiment", options.experiment,
                  "The experiment of the runs (default: what the file or folder is called)")
      ->type_name("NAME");
  command
      .add_option("--run", options.run,
                  "The name of a run that has none (default: what the file or folder is called)")
      ->type_name("TEXT");
  add_metric_patterns(command, options.metrics);
  command.add_flag("--again", options.again, "Take in once more what is there already, as another run");
}

constexpr const char* kRepeated = R"(
What has been taken in already is recognised by its points and left alone; a run that was half done goes on.
)";

void add_table(CLI::App& import, Session& session, const char* name, const char* what, ReadTable read,
               const std::string& examples) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* command = import.add_subcommand(name, what);
  command->add_option("FILE", options->path, "The file")->required();
  add_options(*command, *options);
  command->footer(kRepeated + examples);
  command->callback([options, &session, name, read] {
    run_curve_import(*options, session, [=](const CurveOptions& each) { return table_in(each, name, read); });
  });
}

}  // namespace

void add_import_curves(CLI::App& import, Session& session) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* command =
      import.add_subcommand("tensorboard", "Take in the scalars of event files, a run each folder");
  command->add_option("FOLDER", options->path, "The folder that tensorboard --logdir would take")->required();
  add_options(*command, *options);
  command->footer(kRepeated + std::string(R"(
Examples:
  podium import tensorboard logs --experiment old-runs)"));
  command->callback([options, &session] { run_curve_import(*options, session, events_in); });
  add_table(import, session, "csv", "Take in a table of points or of steps", read_csv, R"(
The first line names the columns. A long file has step, value and metric, and may have run and time; a wide one has
step and a column for each metric. Times are seconds or milliseconds since 1970, or dates in UTC.

Examples:
  podium import csv curves.csv --experiment old-runs
  podium import csv curves.csv --metric 'eval/*' --run first --again)");
  add_table(import, session, "jsonl", "Take in lines of JSON: a point each, or a step each", read_json_lines,
            R"(
A line has step, value and metric, and may have run and time; or step and a value for each metric.

Examples:
  podium import jsonl curves.jsonl --experiment old-runs)");
}

}  // namespace podium::cli
