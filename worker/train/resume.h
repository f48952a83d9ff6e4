// The checkpoint that a run goes on from: the newest of its own, else that of another job, whose steps it
// continues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/model/spec.h"
#include "common/model/text_identity.h"
#include "worker/checkpoint/store.h"
#include "worker/train/progress.h"

namespace podium {

struct ResumingRun {
  const JobSpec& spec;
  const TextIdentity& text;
  std::filesystem::path other_folder;  // the other job's checkpoints; "" for none
  std::int64_t last_step = 0;
};

// Reads it into `tensors`; nothing of a run that begins. What was wrong with newer checkpoints is noted,
// whatever comes of the older ones. Collective. Throws Failure as CheckpointStore does, and bad_spec where
// the other job leaves no step to take.
std::optional<CheckpointState> load_checkpoint(const ResumingRun& run, CheckpointStore& checkpoints,
                                               const CheckpointTensors& tensors, Progress& progress);

}  // namespace podium
