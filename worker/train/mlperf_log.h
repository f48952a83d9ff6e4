// MLPerf's log of a run, `mlperf.log` beside its checkpoints, and on standard output, where each attempt
// tells all of it. An attempt goes on with the log of those before it: one run_start, one run_stop, and the
// time between is the run's, with all that it was cut off for. The lead's, once it holds the folder.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/file.h"
#include "common/base/time.h"
#include "common/mlperf/log.h"
#include "worker/train/mlperf_header.h"

namespace podium {

inline constexpr char kMlperfLogName[] = "mlperf.log";

class MlperfLog {
 public:
  // Reads what earlier attempts have told. `clock` must outlive this. Throws Failure(disk_full), as all here.
  MlperfLog(std::filesystem::path folder, const JobSpec& spec, const Clock& clock);

  // Whether the clock of the run started in an earlier attempt.
  bool continues() const;

  // Of a run that begins: `starts`: when each rank's process began. The clock starts with the last line.
  void begin(const std::vector<Time>& starts, const MlperfValues& header, bool cache_cleared);
  // Training goes on after so many sequences, none for a run that begins, whose first weights are of a
  // checkpoint of `origin_step`.
  void training_starts(std::int64_t sequences, std::int64_t origin_step);
  void evaluation_starts(std::int64_t sequences);
  void evaluated(std::int64_t sequences, double value, std::int64_t held_out);
  // Stops the clock.
  void ended(std::int64_t sequences, bool reached);

 private:
  mlperf::Line line(const char* event, const char* key, nlohmann::json value,
                    nlohmann::json metadata = nlohmann::json::object());
  mlperf::Line point(const char* key, nlohmann::json value);
  void add(std::vector<mlperf::Line> lines);
  void rewrite(std::vector<mlperf::Line> lines);
  void tell(std::size_t from);

  const std::filesystem::path path_;
  const JobSpec& spec_;
  const Clock& clock_;
  std::vector<mlperf::Line> lines_;
  std::size_t told_ = 0;       // of lines_, on standard output
  std::int64_t held_out_ = 0;  // sequences of an evaluation
};

}  // namespace podium
