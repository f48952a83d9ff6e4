// How far a thread that stages inputs or collects outputs has come; read from other threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "agent/staging/staging_failure.h"

namespace podium {

struct StagingProgress {
  std::atomic<std::int64_t> steps{0};   // grows as long as anything moves
  std::atomic<std::int64_t> bytes{0};   // copied or downloaded
  std::atomic<std::int64_t> staged{0};  // inputs that were not here
};

// Between steps of the work. Throws StagingStopped.
inline void note_step(StagingProgress& progress, const std::stop_token& stop) {
  if (stop.stop_requested()) throw StagingStopped();
  ++progress.steps;
}

}  // namespace podium
