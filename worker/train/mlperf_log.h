// MLPerf's log of a run, `mlperf.log` beside its checkpoints, and on standard output, where each attempt
// tells all of it. An attempt goes on with the log of those before it: one run_start, one run_stop, and the
// time between is the run's, with all that it was cut off for. A run whose attempts are known to have told
// times by different clocks says so in a line clock_doubt and is never a success. The lead's, once it holds
// the folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/base/time.h"
#include "common/mlperf/log.h"
#include "worker/train/mlperf_header.h"

namespace podium {

inline constexpr char kMlperfLogName[] = "mlperf.log";

// What the times of an attempt are by.
struct LogClock {
  const Clock& clock;         // must outlive the log
  bool coordinators = false;  // and not the machine's own
  std::int64_t steps = 0;     // how often that was set so far
};

// Of a run that an earlier attempt has begun, whose log is elsewhere.
struct FirstStart {
  Time at;
  std::int64_t steps = 0;  // LogClock::steps of then
};

class MlperfLog {
 public:
  // Reads what earlier attempts have told. Throws Failure(disk_full), as all here.
  MlperfLog(std::filesystem::path folder, const JobSpec& spec, const LogClock& clock);

  // Whether the clock of the run started in an earlier attempt.
  bool continues() const;

  // Of a run that begins: `starts`: when each rank's process began. The clock starts with the last line, or
  // at `first_start`, if there is one.
  void begin(const std::vector<Time>& starts, const MlperfValues& header, bool cache_cleared,
             std::optional<FirstStart> first_start);
  // Training goes on after so many sequences, none for a run that begins, whose first weights are of a
  // checkpoint of `origin_step`.
  void training_starts(std::int64_t sequences, std::int64_t origin_step);
  // How many sequences an evaluation takes.
  void holds_out(std::int64_t sequences) { held_out_ = sequences; }
  void evaluation_starts(std::int64_t sequences);
  void evaluated(std::int64_t sequences, double value);
  // Stops the clock.
  void ended(std::int64_t sequences, bool reached);

 private:
  mlperf::Line line(const char* event, const char* key, nlohmann::json value,
                    nlohmann::json metadata = nlohmann::json::object());
  mlperf::Line point(const char* key, nlohmann::json value);
  std::string doubt() const;
  void keep_doubt();
  void add(std::vector<mlperf::Line> lines);
  void rewrite(std::vector<mlperf::Line> lines);
  void tell(std::size_t from);

  const std::filesystem::path path_;
  const JobSpec& spec_;
  const LogClock clock_;
  std::vector<mlperf::Line> lines_;
  std::size_t told_ = 0;       // of lines_, on standard output
  std::int64_t held_out_ = 0;  // sequences of an evaluation
  std::string doubt_;          // why what the run took is not known; "" where it is
};

}  // namespace podium
