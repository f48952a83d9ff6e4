// Loads experiment specs: YAML text in, jobs out, or every problem at once with its place in the file. The
// command line, the API and the git sync all use it, so a spec means the same everywhere. Pure: reads no file
// and no clock, and refuses hostile input by explicit limits.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/model/asha.h"
#include "common/model/links.h"
#include "common/model/spec.h"

namespace podium {

constexpr std::size_t kMaxSpecBytes = 256 * 1024;
constexpr std::size_t kMaxJobsOfExperiment = 1000;
constexpr std::size_t kMaxJobsInTurn = 100;  // each waits for all before it

struct LoadedExperiment {
  std::string name;
  nlohmann::json normalised;  // every default filled in; a valid spec that normalises to itself
  std::vector<JobSpec> jobs;  // one, a service's replicas, a study's by its values, or those that it lists
  bool in_turn = false;       // each job starts when those before it have ended, successful or not
  std::optional<Asha> asha;   // the jobs are trials; losing trials are ended
  std::vector<JobLinks> links =
      {};  // of each job to others of them, where the spec lists its jobs; else none

  bool listed() const { return !links.empty(); }
};

// The code that its programs run in, which all of them share; nullptr where none has some.
const CodeSpec* code_of(const LoadedExperiment& loaded);

// A value of the command line that replaces the file's: "training.schedule.steps" and "20", as in YAML.
struct Override {
  std::string path;
  std::string value;
};

// `file_name` only begins each problem's place: Error.where is "file:line:column", or "file,
// overridden", and Error.pointer the JSON pointer.
Result<LoadedExperiment> load_experiment(std::string_view yaml, std::string_view file_name,
                                         const std::vector<Override>& overrides = {});

// "spec.yaml:4:7": the place in the text of the value at a JSON pointer, or of the nearest value around it.
std::string place_in(std::string_view yaml, std::string_view file_name, const std::string& pointer);

}  // namespace podium
