// What the jobs of one spec have to do with one another, by their place in it, until they have numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/model/spec.h"

namespace podium {

struct JobLinks {
  struct After {
    std::size_t job = 0;
    When when = When::ok;
  };
  std::vector<After> after;
  std::optional<std::size_t> resume;
  std::optional<std::size_t> init;  // of the spec's model.init_job

  bool any() const { return !after.empty() || resume || init; }
};

// Writes the numbers into a job of which the first of the spec has `first`.
void link(JobSpec& spec, const JobLinks& links, JobId first);
void link(JobRequest& request, const JobLinks& links, JobId first);

}  // namespace podium
