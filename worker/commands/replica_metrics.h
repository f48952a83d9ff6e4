// What a replica writes down of each span of 10 s, as series of its job.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/time.h"
#include "common/model/worker_event.h"
#include "worker/serve/load_window.h"

namespace podium {

class ReplicaMetrics {
 public:
  // `wall`: the node's clock at the end of the span. Of spans without requests only the first is told, and
  // one every 5 minutes. Steps never fall, wherever the clock is put.
  std::optional<MetricsEvent> of(const LoadFigures& load, Time wall);

 private:
  std::int64_t step_ = 0;  // spans since 1970
  int idle_ = 0;           // spans in a row
};

}  // namespace podium
