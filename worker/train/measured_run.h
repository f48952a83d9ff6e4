// How a run begins that is measured as MLPerf measures: what it reads is put out of the nodes' caches, and
// the clock starts before any rank reads it.
#pragma once

#include <memory>
#include <string>

#include "common/base/time.h"
#include "common/model/launch.h"
#include "common/model/launch_clock.h"
#include "worker/comm/communicator.h"
#include "worker/train/mlperf_log.h"

namespace podium {

// Collective over `world`, before the text is read. `began`: when this process did, by `clock`; `device`
// names what a rank computes on. The lead's log, whose folder it holds; null on other ranks. `launch` and
// `clock` must outlive it.
std::unique_ptr<MlperfLog> begin_measured_run(const Launch& launch, const LaunchClock& known, Time began,
                                              const std::string& device, const Clock& clock,
                                              Communicator& world);

}  // namespace podium
