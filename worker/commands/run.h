// Runs a worker process from launch to exit code.
#pragma once

#include <atomic>

#include "common/model/launch.h"
#include "common/model/launch_clock.h"

namespace podium {

class Profiler;

// Runs the task that `launch` describes and returns the exit code of the process. Every failure leaves an
// error note and a `finished` line in events.jsonl, and a line on standard error. `stop` asks for a save and
// an early end. `profiler` may be null; it learns where time and memory go.
WorkerExit run_worker(const Launch& launch, const LaunchClock& clock, const std::atomic<bool>& stop,
                      Profiler* profiler = nullptr);

}  // namespace podium
