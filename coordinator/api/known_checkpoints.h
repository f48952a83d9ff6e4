// What this database knows of the checkpoints that a job has left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "coordinator/store/reader.h"

namespace podium {

// For each of a training's checkpoints, by attempt and step, whether newer ones have taken its place, of
// which `keep` stay beside the best. What an attempt with other files in its place may have kept counts as
// there.
std::vector<bool> removed_checkpoints(const std::vector<CheckpointView>& saved, int keep);

struct KnownJob {
  JobSpec spec;  // of a tracked run, which has none, its name alone
  bool tracked = false;
  bool has_run = false;
  std::optional<Time> ended;
  bool silent = false;                      // the end of a task was never told: what it wrote may come yet
  std::vector<CheckpointView> checkpoints;  // by attempt and step
};
std::optional<KnownJob> known_job(Reader& reader, JobId id);

// Why no checkpoint of the job is there, or none of `step`; "" where one may be: a job that has not ended may
// still save it, and of one that has ended a moment ago, or on a node that was lost, not all may have been
// told.
std::string why_no_checkpoint(const KnownJob& job, std::optional<std::int64_t> step, Time now);

}  // namespace podium
