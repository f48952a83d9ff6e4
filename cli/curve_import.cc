#include "cli/curve_import.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <optional>

#include "cli/count_progress.h"
#include "cli/curves/number_text.h"
#include "cli/curves/summary.h"
#include "cli/metric_name.h"
#include "cli/run_limits.h"
#include "cli/terminal.h"
#include "cli/tracked_run.h"

namespace podium::cli {
namespace {

constexpr char kHashTag[] = "podium.import.hash";
// What metrics are called here, by what the source calls them.
class MetricNames {
 public:
  const std::string& of(const std::string& written) {
    const auto known = names_.find(written);
    if (known != names_.end()) return known->second;
    const std::string name = metric_name(written);
    const auto [owner, is_new] = owners_.emplace(name, written);
    if (!is_new)
      throw Failure(Exit::refused,
                    fmt::format("{} and {} would both be the metric {}; --metric picks one of them",
                                printable(owner->second), printable(written), name));
    if (name != written) warnings_.push_back(fmt::format("{} is the metric {} here", written, name));
    return names_.emplace(written, name).first->second;
  }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::map<std::string, std::string> names_, owners_;
  std::vector<std::string> warnings_;
};

std::string parameter_value(const HyperParameter& value) {
  if (const double* number = std::get_if<double>(&value)) return value_text(*number);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

class Importer {
 public:
  Importer(KeptConnection& connection, const CurveSource& source, const ImportWish& wish)
      : connection_(connection), source_(source), wish_(wish) {}

  Import run() {
    read([&](const TaggedPoint& tagged, const std::string& metric) {
      runs_[tagged.run].summary.add(metric, tagged.point);
      if (runs_.size() > kMostRuns)
        throw Failure(Exit::refused,
                      fmt::format("{} has more than {} runs, which one import takes: give it in parts",
                                  source_.path, kMostRuns));
    });
    if (runs_.empty()) throw Failure(Exit::refused, source_.path + " has no points that could be taken");
    result_.warnings = source_.warnings;
    result_.warnings.insert(result_.warnings.end(), names_.warnings().begin(), names_.warnings().end());
    check_limits();
    experiment_ = experiment_of(connection_, wish_.experiment);
    for (auto& [name, run] : runs_) {
      if (!wish_.again) run.found = find_run(connection_, experiment_, name, kHashTag, run.summary.hash());
      if (!is_there(run)) points_ += run.summary.points();
    }
    try {
      if (points_ > 0) send();
    } catch (...) {
      give_up();
      throw;
    }
    return tell();
  }

 private:
  struct Run {
    CurveSummary summary;
    TextPairs parameters;
    std::optional<FoundRun> found;
    std::optional<RunLog> log;
    std::uint64_t sent = 0;
    bool finished = false;
  };
  using Take = std::function<void(const TaggedPoint& tagged, const std::string& metric)>;

  static bool is_there(const Run& run) { return run.found && run.found->finished; }

  void read(const Take& take) {
    source_.read([&](const TaggedPoint& tagged) {
      if (wish_.wanted(tagged.metric)) take(tagged, names_.of(tagged.metric));
    });
  }

  // What the coordinator would refuse only when a part of the runs is written.
  void check_limits() {
    check_name("experiment", wish_.experiment, kLongestExperimentName);
    for (auto& [name, run] : runs_) {
      check_name("run", name, kLongestRunName);
      check_count(name, "metrics", run.summary.metrics().size(), kMostRunMetrics, "; --metric chooses some");
      const auto parameters = source_.parameters.find(name);
      if (parameters == source_.parameters.end()) continue;
      run.parameters = parameters_of(name, parameters->second);
      check_count(name, "parameters", run.parameters.size(), kMostRunParameters);
      std::size_t bytes = 0;
      for (const auto& [key, value] : run.parameters) bytes += key.size() + value.size();
      check_count(name, "bytes of parameters", bytes, kMostRunText);
    }
  }

  TextPairs parameters_of(const std::string& run, const HyperParameters& written) {
    std::map<std::string, std::string> by_name, owners;
    for (const auto& [key, value] : written) {
      const std::string text = valid_text(parameter_value(value));
      const std::string name = metric_name(key);
      if (is_longer(text, kLongestParameter)) {
        result_.warnings.push_back(fmt::format(
            "{}: the parameter {} is left out: it has more than {} characters", run, key, kLongestParameter));
        continue;
      }
      const std::string& owner = owners.emplace(name, key).first->second;
      if (owner != key)
        result_.warnings.push_back(
            fmt::format("{}: the parameter {} is left out: {} is {} here, too", run, key, owner, name));
      else
        by_name[name] = text;
    }
    return {by_name.begin(), by_name.end()};
  }

  void send() {
    CountProgress progress("point", points_);
    std::uint64_t done = 0;
    read([&](const TaggedPoint& tagged, const std::string& metric) {
      const auto at = runs_.find(tagged.run);
      if (at == runs_.end() || at->second.sent == at->second.summary.points())
        return;  // it has grown meanwhile
      Run& run = at->second;
      if (is_there(run)) return;
      if (!run.log) {
        run.log.emplace(connection_, experiment_, new_run(tagged.run, run), run.found);
        run.log->begin();
      }
      run.log->add(metric, tagged.point);
      progress.tell(++done);
      if (++run.sent < run.summary.points()) return;
      run.log->finish();
      run.finished = true;
    });
    for (const auto& [name, run] : runs_)
      if (!is_there(run) && !run.finished)
        throw Failure(Exit::refused, fmt::format("{} changed while it was read", source_.path));
  }

  NewRun new_run(const std::string& name, const Run& run) {
    const TextPairs tags{{"podium.import.format", source_.format},
                         {"podium.import.source", valid_text(source_.path.substr(0, kLongestTag))},
                         {kHashTag, run.summary.hash()}};
    return {name, run.summary.first_ms(), run.summary.last_ms(), tags, run.parameters};
  }

  // As far as that can be done: the coordinator may be why.
  void give_up() {
    for (auto& [name, run] : runs_) {
      if (!run.log || run.finished) continue;
      bool told = false;
      try {
        run.log->fail();
        told = true;
      } catch (...) {
      }
      std::fprintf(stderr, "podium: %s is half imported as job %lld%s; the same command goes on with it\n",
                   printable(name).c_str(), static_cast<long long>(run.log->job()),
                   told ? ", which is marked as failed" : "");
    }
  }

  Import tell() {
    for (std::string& warning : result_.warnings) warning = valid_text(warning);
    for (const auto& [name, run] : runs_) {
      const std::string outcome = is_there(run) ? "already imported" : run.found ? "continued" : "imported";
      const std::int64_t job = run.log ? run.log->job() : job_of(run.found->id);
      result_.runs.push_back({name, job, run.summary.points(), run.summary.metrics().size(), outcome});
    }
    return std::move(result_);
  }

  KeptConnection& connection_;
  const CurveSource& source_;
  const ImportWish& wish_;
  MetricNames names_;
  std::map<std::string, Run> runs_;
  std::string experiment_;
  std::uint64_t points_ = 0;
  Import result_;
};

}  // namespace

Import import_curves(KeptConnection& connection, const CurveSource& source, const ImportWish& wish) {
  return Importer(connection, source, wish).run();
}

}  // namespace podium::cli
