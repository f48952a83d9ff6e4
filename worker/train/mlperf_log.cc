#include "worker/train/mlperf_log.h"

#include <fcntl.h>
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

}  // namespace

MlperfLog::MlperfLog(std::filesystem::path folder, const JobSpec& spec, const Clock& clock)
    : path_(std::move(folder) / kMlperfLogName), spec_(spec), clock_(clock) {
  on_disk([this] {
    if (std::filesystem::exists(path_)) lines_ = mlperf::read_log(read_file(path_)).lines;
  });
}

bool MlperfLog::continues() const { return mlperf::has_started(lines_); }

void MlperfLog::begin(const std::vector<Time>& starts, const MlperfValues& header, bool cache_cleared) {
  lines_.clear();
  for (const Time& start : starts) {
    lines_.push_back(line(mlperf::kStart, "init_start", nullptr));
    lines_.back().time_ms = std::min(lines_.back().time_ms, to_millis(start));
  }
  lines_.push_back(point("cache_clear", cache_cleared));
  for (const auto& [key, value] : header) lines_.push_back(point(key.c_str(), value));
  lines_.push_back(line(mlperf::kStop, "init_stop", nullptr));
  lines_.push_back(line(mlperf::kStart, "run_start", nullptr));
  rewrite(std::move(lines_));
}

void MlperfLog::training_starts(std::int64_t sequences, std::int64_t origin_step) {
  if (sequences == 0 && !mlperf::has_ended(lines_)) {
    // Of a run that begins, in whatever attempt, nothing was trained.
    std::vector<Line> begun = lines_;
    const auto start = std::ranges::find(begun, "run_start", &Line::key);
    begun.erase(start + 1, begun.end());
    if (spec_.mlperf->benchmark == mlperf::Benchmark::gpt3)
      begun.push_back(point("init_checkpoint_step", origin_step));
    begun.push_back(line(mlperf::kStart, "epoch_start", nullptr, {{"epoch_num", 0}}));
    begun.push_back(
        line(mlperf::kStart, "block_start", nullptr, {{"first_epoch_num", 0}, {"epoch_count", 1}}));
    return rewrite(std::move(begun));
  }
  rewrite(mlperf::kept_lines(lines_, mlperf_epoch(spec_, sequences)));
}

void MlperfLog::evaluation_starts(std::int64_t sequences) {
  add({line(mlperf::kStart, "eval_start", nullptr, {{"epoch_num", mlperf_epoch(spec_, sequences)}})});
}

void MlperfLog::evaluated(std::int64_t sequences, double value, std::int64_t held_out) {
  held_out_ = held_out;
  const json epoch{{"epoch_num", mlperf_epoch(spec_, sequences)}};
  add({line(mlperf::kStop, "eval_stop", nullptr, epoch),
       line(mlperf::kPoint, "eval_accuracy", value, epoch)});
}

void MlperfLog::ended(std::int64_t sequences, bool reached) {
  const std::int64_t epoch = mlperf_epoch(spec_, sequences);
  std::vector<Line> lines{
      line(mlperf::kStop, "block_stop", nullptr, {{"first_epoch_num", 0}}),
      line(mlperf::kStop, "epoch_stop", nullptr, {{"epoch_num", epoch}}), point("train_samples", epoch),
      point("eval_samples", mlperf_epoch(spec_, held_out_)),
      line(mlperf::kStop, "run_stop", nullptr, {{"status", reached ? "success" : "aborted"}})};
  if (spec_.mlperf->benchmark == mlperf::Benchmark::gpt3) lines.push_back(point("trained_samples", epoch));
  add(std::move(lines));
}

// No line has an earlier time than the one before it, whatever is done to the clock.
Line MlperfLog::line(const char* event, const char* key, json value, json metadata) {
  std::int64_t now = to_millis(clock_.now());
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
