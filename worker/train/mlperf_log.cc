#include "worker/train/mlperf_log.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "common/mlperf/run_log.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

using mlperf::Line;
using nlohmann::json;

constexpr const char* kDoubt = "clock_doubt";
constexpr const char* kBy = "clock";           // of the metadata of run_start: by which times are,
constexpr const char* kSteps = "clock_steps";  // and how often that had been set

template <class Io>
void on_disk(const Io& io) {
  try {
    io();
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full, std::string("cannot keep MLPerf's log: ") + error.what());
  }
}

std::string text_of(const std::vector<Line>& lines, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < lines.size(); ++i) text += line_text(lines[i]);
  return text;
}

const Line* line_of(const std::vector<Line>& lines, const char* key) {
  const auto found = std::ranges::find(lines, key, &Line::key);
  return found == lines.end() ? nullptr : &*found;
}

const char* clock_name(bool coordinators) { return coordinators ? "coordinator" : "machine"; }

constexpr const char* kWasSet = "the coordinator's clock was set since the run began";

// What a clock that nobody has set may be behind: an agent's view of the coordinator's clock is late by a
// moment, that clock drifts towards its machine's by a thousandth, and crystals differ.
std::int64_t clock_slack(std::int64_t since_start_ms) { return 1000 + since_start_ms / 500; }

}  // namespace

MlperfLog::MlperfLog(std::filesystem::path folder, const JobSpec& spec, const LogClock& clock)
    : path_(std::move(folder) / kMlperfLogName), spec_(spec), clock_(clock) {
  on_disk([this] {
    if (std::filesystem::exists(path_)) lines_ = mlperf::read_log(read_file(path_)).lines;
  });
  doubt_ = doubt();
  if (!doubt_.empty()) keep_doubt();
}

// At once, for the next attempt may see no sign of it.
void MlperfLog::keep_doubt() {
  if (line_of(lines_, kDoubt) != nullptr) return;
  spdlog::warn("{}: {}, so what the run takes is not known; it ends as aborted", path_.string(), doubt_);
  lines_.push_back(point(kDoubt, doubt_));
  on_disk([this] { write_file_atomic(path_, text_of(lines_, 0)); });
}

std::string MlperfLog::doubt() const {
  if (!continues() || mlperf::has_ended(lines_)) return "";
  if (const Line* const told = line_of(lines_, kDoubt))
    return told->value.is_string() ? told->value.get<std::string>() : "an earlier attempt doubted the clock";
  const Line& start = *line_of(lines_, "run_start");
  if (start.metadata.value(kBy, json(clock_name(false))) != clock_name(clock_.coordinators))
    return fmt::format("the attempts before told times by another clock, and this one tells the {}'s",
                       clock_name(clock_.coordinators));
  if (start.metadata.value(kSteps, json(0)) != clock_.steps) return kWasSet;
  const std::int64_t behind = lines_.back().time_ms - to_millis(clock_.clock.now());
  if (behind <= clock_slack(lines_.back().time_ms - start.time_ms)) return "";
  return fmt::format("the clock stands {} s before the last line, for it was set back",
                     (behind + 999) / 1000);
}

bool MlperfLog::continues() const { return mlperf::has_started(lines_); }

void MlperfLog::begin(const std::vector<Time>& starts, const MlperfValues& header, bool cache_cleared,
                      std::optional<FirstStart> first_start) {
  lines_.clear();
  for (const Time& start : starts) {
    lines_.push_back(line(mlperf::kStart, "init_start", nullptr));
    lines_.back().time_ms = std::min(lines_.back().time_ms, to_millis(start));
  }
  lines_.push_back(point("cache_clear", cache_cleared));
  for (const auto& [key, value] : header) lines_.push_back(point(key.c_str(), value));
  lines_.push_back(line(mlperf::kStop, "init_stop", nullptr));
  lines_.push_back(line(mlperf::kStart, "run_start", nullptr,
                        {{kBy, clock_name(clock_.coordinators)}, {kSteps, clock_.steps}}));
  if (first_start) {
    const std::int64_t later = std::max<std::int64_t>(0, lines_.back().time_ms - to_millis(first_start->at));
    for (Line& each : lines_) each.time_ms -= later;
    if (first_start->steps != clock_.steps) doubt_ = kWasSet;
  }
  if (!doubt_.empty()) lines_.push_back(point(kDoubt, doubt_));
  rewrite(std::move(lines_));
}

void MlperfLog::training_starts(std::int64_t sequences, std::int64_t origin_step) {
  if (mlperf::has_ended(lines_)) return rewrite(std::move(lines_));
  std::vector<Line> lines = mlperf::kept_lines(lines_, mlperf_epoch(spec_, sequences));
  if (sequences == 0) {
    // Of a run that begins, in whatever attempt, nothing was trained.
    lines = lines_;
    lines.erase(std::ranges::find(lines, "run_start", &Line::key) + 1, lines.end());
    if (spec_.mlperf->benchmark == mlperf::Benchmark::gpt3)
      lines.push_back(point("init_checkpoint_step", origin_step));
    lines.push_back(line(mlperf::kStart, "epoch_start", nullptr, {{"epoch_num", 0}}));
    lines.push_back(
        line(mlperf::kStart, "block_start", nullptr, {{"first_epoch_num", 0}, {"epoch_count", 1}}));
  }
  if (!doubt_.empty() && line_of(lines, kDoubt) == nullptr) lines.push_back(point(kDoubt, doubt_));
  rewrite(std::move(lines));
}

void MlperfLog::evaluation_starts(std::int64_t sequences) {
  add({line(mlperf::kStart, "eval_start", nullptr, {{"epoch_num", mlperf_epoch(spec_, sequences)}})});
}

void MlperfLog::evaluated(std::int64_t sequences, double value) {
  const json epoch{{"epoch_num", mlperf_epoch(spec_, sequences)}};
  add({line(mlperf::kStop, "eval_stop", nullptr, epoch),
       line(mlperf::kPoint, "eval_accuracy", value, epoch)});
}

void MlperfLog::ended(std::int64_t sequences, bool reached) {
  const std::int64_t epoch = mlperf_epoch(spec_, sequences);
  std::vector<Line> lines{line(mlperf::kStop, "block_stop", nullptr, {{"first_epoch_num", 0}}),
                          line(mlperf::kStop, "epoch_stop", nullptr, {{"epoch_num", epoch}}),
                          point("train_samples", epoch),
                          point("eval_samples", mlperf_epoch(spec_, held_out_)),
                          line(mlperf::kStop, "run_stop", nullptr,
                               {{"status", reached && doubt_.empty() ? "success" : "aborted"}})};
  if (spec_.mlperf->benchmark == mlperf::Benchmark::gpt3) lines.push_back(point("trained_samples", epoch));
  add(std::move(lines));
}

// No line has an earlier time than the one before it.
Line MlperfLog::line(const char* event, const char* key, json value, json metadata) {
  std::int64_t now = to_millis(clock_.clock.now());
  if (!lines_.empty()) now = std::max(now, lines_.back().time_ms);
  metadata["file"] = "podium-worker";
  metadata["lineno"] = 0;
  return {0, now, event, key, std::move(value), std::move(metadata)};
}

Line MlperfLog::point(const char* key, json value) { return line(mlperf::kPoint, key, std::move(value)); }

// A run that has ended has told all.
void MlperfLog::add(std::vector<Line> lines) {
  if (mlperf::has_ended(lines_)) return;
  const std::size_t before = lines_.size();
  lines_.insert(lines_.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  on_disk([&] {
    const Fd file = open_file(path_, O_WRONLY | O_APPEND);
    write_all(file.get(), text_of(lines_, before), path_);
    if (::fsync(file.get()) != 0) throw std::system_error(errno, std::generic_category(), path_.string());
  });
  tell(before);
}

// Standard output gets the lines that it does not have.
void MlperfLog::rewrite(std::vector<Line> lines) {
  lines_ = std::move(lines);
  on_disk([this] { write_file_atomic(path_, text_of(lines_, 0)); });
  tell(told_);
}

void MlperfLog::tell(std::size_t from) {
  on_disk([&] { write_all(STDOUT_FILENO, text_of(lines_, from), "standard output"); });
  told_ = lines_.size();
}

}  // namespace podium
