// The API's JSON of jobs, attempts, nodes and experiments, as docs/protocols.md shows it and
// schemas/openapi.yaml describes it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/time.h"

#include "coordinator/core/state/blocker.h"
#include "coordinator/core/state/state.h"
#include "coordinator/loop/command_loop.h"
#include "coordinator/store/reader.h"

namespace podium {

// null where there is no value; a time in milliseconds since 1970.
template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
inline nlohmann::json millis_or_null(const std::optional<Time>& time) {
  return time ? nlohmann::json(to_millis(*time)) : nlohmann::json(nullptr);
}

// With what only the loop knows: why it waits, whether it is held. `revision`: LiveStream::take_id() before
// it was read.
nlohmann::json job_json(const JobView& job, const CommandLoop& loop, std::int64_t revision);
nlohmann::json attempt_json(const AttemptView& attempt);
// `folder`: ClusterState::folder.
nlohmann::json checkpoint_json(const CheckpointView& checkpoint, JobId job, const std::string& folder);
// `heard`: LiveFeed::has_heard() of it. A node's own last_seen counts from the coordinator's start before
// that.
nlohmann::json node_json(const Node& node, bool heard, std::int64_t revision);
nlohmann::json blocker_json(const Blocker& blocker);
nlohmann::json experiment_json(const ExperimentView& experiment);
nlohmann::json point_json(const std::string& key, const SeriesPoint& point);

}  // namespace podium
