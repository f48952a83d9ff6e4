// Which jobs a list has, their order, and the part of the list that is requested.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/job.h"

namespace podium {

enum class JobSortKey {
  id,
  name,
  state,     // how far it has come: from queued to ended
  progress,  // steps done of all
  loss,
  throughput,  // sequences a second, then tokens a second
  devices,
  account,
  priority,
  submitted,
  time_to_train
};

inline constexpr std::array<std::string_view, 11> kJobSortKeys{
    "id",      "name",    "state",    "progress",  "loss", "throughput",
    "devices", "account", "priority", "submitted", "time"};

struct JobSort {
  JobSortKey key = JobSortKey::id;
  bool descending = true;
};

struct JobFilter {
  std::vector<JobState> states;  // any, when empty
  std::optional<ExperimentId> experiment;
  std::string experiment_name;         // all of it
  std::string name;                    // substring
  std::string label_key, label_value;  // both or none
  std::string account;                 // and all below it
  bool scheduled = false;              // without tracked runs
  std::string search;                  // words that all match: openapi.yaml, `q` of list_jobs
  JobSort sort = {};
  int limit = 100;
  std::int64_t offset = 0;     // jobs left out before the first
  std::optional<JobId> after;  // sorted by id: the last job of the page before
};

}  // namespace podium
