// Copies the files that a task's outputs name into the shared folder: all of them or none. Blocking: for a
// thread of its own, because a shared folder may hang.
//
//   <to>/<attempt>/<rank>/<path>   below its working folder
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/id.h"

namespace podium {

struct OutputLimits {
  std::int64_t bytes = std::int64_t{10} << 30;  // of a task
  std::int64_t files = 100'000;
  std::int64_t looked_at = 1'000'000;  // files and folders on the way to them
};

inline constexpr int kKeptOutputs = 3;  // attempts of a job that have some

struct Collection {
  TaskId task;
  std::filesystem::path folder;       // the working folder; "" where this process collects nothing
  std::vector<std::string> globs;     // below it
  std::filesystem::path task_folder;  // wherever that comes up, it is without
  std::set<std::string> left_out;  // these names, which are the agent's, and what begins with them and a dot
  std::filesystem::path to;        // of the job, in the shared folder
  OutputLimits limits;
};

struct Collected {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t left_out = 0;  // named, and not kept: links, pipes, names that are no text
};

// They are not collected, and trying again does not help.
class OutputsRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws OutputsRefused, and std::system_error where a disk failed. `stop` ends it with nothing collected.
Collected collect_outputs(const Collection& collection, const std::stop_token& stop);

// "3 outputs (12.0 MiB) are in jobs/7/outputs/1/0 of the shared folder"
std::string describe_outputs(const Collection& collection, const Collected& collected);

}  // namespace podium
