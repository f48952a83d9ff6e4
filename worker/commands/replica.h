// A replica of a service as an agent starts it: podium-worker run with a spec of task: serve.
#pragma once

#include <atomic>

#include "common/model/launch.h"
#include "worker/train/event_log.h"

namespace podium {

// Serves the model of model.init under the service's name at the launch's master address, to those who have
// the attempt's secret, until `stop` is raised and what was accepted is answered: WorkerExit::saved. Which
// checkpoint the model is of is the same at every attempt of the job. Tells what each 10 s were as metrics,
// whose step is the number of such spans since 1970. Throws what run_worker's other bodies throw.
WorkerExit serve_replica(const Launch& launch, EventLog& events, const std::atomic<bool>& stop);

}  // namespace podium
