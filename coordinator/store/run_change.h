// What a program asks to be written of a run, or of an experiment of MLflow. One request is one change, which
// is written wholly or not at all. Whoever makes one has checked names, sizes and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/id.h"
#include "common/model/job.h"

namespace podium {

// A metric, a parameter or a tag more than a run may have is refused.
inline constexpr std::int64_t kMostRunMetrics = 20'000;
inline constexpr std::int64_t kMostRunParams = 10'000;
inline constexpr std::int64_t kMostRunTags = 10'000;
inline constexpr std::int64_t kMostRunInputs = 1'000;
inline constexpr std::int64_t kLargestRunInput = 256 * 1024;  // bytes, with all its tags
inline constexpr std::int64_t kMostRunBytes = 32 << 20;       // of its params, tags and inputs
inline constexpr std::int64_t kMostRunPoints = 100'000'000;   // about, of all its metrics
inline constexpr std::int64_t kMostRunGroups = 100'000;

inline constexpr const char* kRunNameTag = "mlflow.runName";

// An experiment of MLflow: all experiments of one name.
using RunGroupId = Id<struct RunGroupTag>;
inline constexpr RunGroupId kDefaultRunGroup{0};

struct RunPoint {
  std::string key;
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
  double value = 0;
};

struct KeyValue {
  std::string key, value;
  bool operator==(const KeyValue&) const = default;
};

struct RunInput {
  std::string kind;  // "dataset", "model"
  std::string id;
  std::string body;  // JSON, as MLflow writes it
};

// The parts of a tracked run that the event log does not hold.
struct NewRun {
  RunGroupId group;
  std::string name, user;
  std::int64_t started_ms = 0;
  std::vector<KeyValue> tags;
};

struct LogToRun {
  std::vector<RunPoint> points;
  std::vector<KeyValue> params, tags;
};

// Of a job that is scheduled nothing changes so: its state and its name are Podium's.
struct UpdateRun {
  std::optional<JobState> state;
  std::optional<std::int64_t> ended_ms;
  std::optional<std::string> name;
};

struct RemoveRunTag {
  std::string key;
};

struct DeleteRun {
  bool deleted = true;  // false: it is restored
};

struct AddRunInputs {
  std::vector<RunInput> inputs;
};

struct MakeRunGroup {
  std::string name, artifacts;
  std::vector<KeyValue> tags;
};

struct RenameRunGroup {
  RunGroupId group;
  std::string name;
};

struct DeleteRunGroup {  // and its tracked runs
  RunGroupId group;
  bool deleted = true;  // false: it is restored, with them
};

struct SetRunGroupTag {
  RunGroupId group;
  std::string key;
  std::optional<std::string> value;  // none: it is removed
};

struct RunChange {
  std::int64_t now_ms = 0;
  JobId run;  // that the first five are of
  std::variant<LogToRun, UpdateRun, RemoveRunTag, DeleteRun, AddRunInputs, MakeRunGroup, RenameRunGroup,
               DeleteRunGroup, SetRunGroupTag>
      what;
};

// About as many bytes as it takes.
std::size_t size_of(const RunChange& change);

}  // namespace podium
