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

// Includes what only the loop knows: why the job waits, whether it is held. `revision`: LiveStream::take_id()
// from before the job was read.
nlohmann::json job_json(const JobView& job, const CommandLoop& loop, std::int64_t revision);
nlohmann::json attempt_json(const AttemptView& attempt);
// `folder`: ClusterState::folder. `removed`: newer ones have taken its place.
nlohmann::json checkpoint_json(const CheckpointView& checkpoint, JobId job, const std::string& folder,
                               bool removed = false);
// `heard`: LiveFeed::has_heard() of the node. Until then its last_seen is the coordinator's start.
nlohmann::json node_json(const Node& node, bool heard, std::int64_t revision);
nlohmann::json blocker_json(const Blocker& blocker);
nlohmann::json experiment_json(const ExperimentView& experiment);
nlohmann::json point_json(const std::string& key, const SeriesPoint& point);

}  // namespace podium
