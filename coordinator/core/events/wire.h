// JSON of the values that events, snapshots and the API share. Events and snapshots lie on disk: a change
// here must still read what older versions wrote (tests/golden).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "coordinator/core/state/state.h"

namespace podium::wire {

nlohmann::json request_json(const JobRequest& request);
JobRequest request_from(const nlohmann::json& json);
nlohmann::json allocation_json(const Allocation& allocation);
Allocation allocation_from(const nlohmann::json& json);
nlohmann::json retries_json(const RetryCounts& retries);
RetryCounts retries_from(const nlohmann::json& json);
nlohmann::json resize_json(const Resize& resize);
Resize resize_from(const nlohmann::json& json);
nlohmann::json rules_json(const AccountRules& rules);
AccountRules rules_from(const nlohmann::json& json);
nlohmann::json nodes_json(const std::vector<NodeId>& nodes);
std::vector<NodeId> nodes_from(const nlohmann::json& json);
nlohmann::json drain_json(const Drain& drain);
Drain drain_from(const nlohmann::json& json);
nlohmann::json reservation_json(const NodeReservation& reservation);
NodeReservation reservation_from(const nlohmann::json& json);

nlohmann::json report_json(const RungReport& report);
RungReport report_from(const nlohmann::json& json);

// null where there is no time.
nlohmann::json time_json(std::optional<Time> time);
std::optional<Time> optional_time_from(const nlohmann::json& json);

inline JobId job_from(const nlohmann::json& json) { return {json.get<std::int64_t>()}; }
inline Time time_from(const nlohmann::json& json) { return from_millis(json.get<std::int64_t>()); }

}  // namespace podium::wire
