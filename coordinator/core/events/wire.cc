#include "coordinator/core/events/wire.h"

#include <algorithm>

#include "common/model/spec.h"

namespace podium::wire {

using nlohmann::json;

namespace {

std::optional<JobId> optional_job_from(const json& in, const char* key) {
  return in.contains(key) ? std::optional(job_from(in.at(key))) : std::nullopt;
}

json replica_json(const Replica& replica) {
  return {{"service", replica.service},
          {"min", replica.min},
          {"max", replica.max},
          {"queue_ms", replica.queue.count()}};
}

Replica replica_from(const json& in) {
  return {in.at("service"), in.at("min"), in.at("max"), Duration{in.at("queue_ms").get<std::int64_t>()}};
}

}  // namespace

json request_json(const JobRequest& request) {
  json out{{"name", request.name},
           {"devices", request.devices},
           {"per_node", request.per_node},
           {"kind", request.kind},
           {"walltime_ms", request.walltime.count()},
           {"priority", request.priority},
           {"max_restarts", request.max_restarts},
           {"command", request.command},
           {"account", request.account},
           {"after", after_json(request.after)}};
  if (!request.nodes.empty()) out["nodes"] = request.nodes;
  if (request.within != Within::anywhere) out["within"] = to_string(request.within);
  if (request.tensor != 1) out["tensor"] = request.tensor;
  if (request.pipeline != 1) out["pipeline"] = request.pipeline;
  if (request.elastic()) out["sizes"] = request.sizes;
  if (request.saves) out["saves"] = true;
  if (request.process_per_node) out["process_per_node"] = true;
  if (request.resume) out["resume"] = request.resume->value;
  if (request.init) out["init"] = request.init->value;
  if (request.replica) out["replica"] = replica_json(*request.replica);
  if (request.grace != kUsualGrace) out["grace_ms"] = request.grace.count();
  if (request.before_walltime > Duration{}) out["before_walltime_ms"] = request.before_walltime.count();
  return out;
}

JobRequest request_from(const json& in) {
  return {
      in.at("name"),
      in.at("devices"),
      in.at("per_node"),
      in.at("kind"),
      std::min(Duration{in.at("walltime_ms").get<std::int64_t>()}, kLongestWalltime),  // had no bound once
      in.at("priority"),
      in.at("max_restarts"),
      in.at("command"),
      in.value("account", std::string(kDefaultAccount)),
      after_from(in.value("after", json::array())),
      in.value("nodes", Labels{}),
      within_from(in.value("within", "anywhere")),
      in.value("tensor", 1),
      in.value("pipeline", 1),
      in.value("sizes", std::vector<int>{}),
      in.value("saves", false),
      optional_job_from(in, "resume"),
      optional_job_from(in, "init"),
      in.value("process_per_node", false),
      in.contains("replica") ? std::optional(replica_from(in.at("replica"))) : std::nullopt,
      Duration{in.value("grace_ms", std::int64_t{kUsualGrace.count()})},
      Duration{in.value("before_walltime_ms", std::int64_t{0})}};
}

json allocation_json(const Allocation& allocation) {
  json ranks = json::array();
  for (const Placement& place : allocation.ranks) {
    ranks.push_back({{"node", place.node.value},
                     {"device", place.device},
                     {"local_rank", place.local_rank},
                     {"local_world_size", place.local_world_size},
                     {"node_rank", place.node_rank},
                     {"threads", place.threads}});
    if (!place.more_devices.empty()) ranks.back()["more_devices"] = place.more_devices;
  }
  return {{"ranks", std::move(ranks)},
          {"nodes", allocation.nodes},
          {"master", {{"address", allocation.master_address}, {"port", allocation.master_port}}}};
}

Allocation allocation_from(const json& in) {
  Allocation allocation;
  for (const json& place : in.at("ranks"))
    allocation.ranks.push_back({{place.at("node").get<std::string>()},
                                place.at("device"),
                                place.at("local_rank"),
                                place.at("local_world_size"),
                                place.at("node_rank"),
                                place.at("threads"),
                                place.value("more_devices", std::vector<int>{})});
  allocation.nodes = in.at("nodes");
  allocation.master_address = in.at("master").at("address");
  allocation.master_port = in.at("master").at("port");
  return allocation;
}

json retries_json(const RetryCounts& retries) {
  return {{"failures", retries.failures}, {"requeues", retries.requeues},   {"moves", retries.moves},
          {"losses", retries.losses},     {"fruitless", retries.fruitless}, {"quick", retries.quick}};
}

RetryCounts retries_from(const json& in) {
  return {in.at("failures"), in.at("requeues"),  in.at("moves"),
          in.at("losses"),   in.at("fruitless"), in.at("quick")};
}

json resize_json(const Resize& resize) {
  json kept = json::object();
  for (const auto& [node, devices] : resize.restart_on) kept[node.value] = devices;
  return {{"from", resize.from},
          {"to", resize.to},
          {"kept", std::move(kept)},
          {"room_for", resize.room_for ? json(resize.room_for->value) : json(nullptr)}};
}

Resize resize_from(const json& in) {
  Resize resize{.from = in.at("from"), .to = in.at("to")};
  for (const auto& [node, devices] : in.at("kept").items()) resize.restart_on[{node}] = devices;
  if (!in.at("room_for").is_null()) resize.room_for = job_from(in.at("room_for"));
  return resize;
}

json rules_json(const AccountRules& rules) {
  return {{"share", rules.share}, {"quota", rules.quota}, {"limit", rules.limit}};
}

AccountRules rules_from(const json& in) {
  using Devices = std::map<std::string, int>;
  return {in.at("share"), in.at("quota").get<Devices>(), in.at("limit").get<Devices>()};
}

json nodes_json(const std::vector<NodeId>& nodes) {
  json out = json::array();
  for (const NodeId& node : nodes) out.push_back(node.value);
  return out;
}

std::vector<NodeId> nodes_from(const json& in) {
  std::vector<NodeId> nodes;
  for (const json& node : in) nodes.push_back({node.get<std::string>()});
  return nodes;
}

json drain_json(const Drain& drain) {
  return {{"reason", drain.reason}, {"from_ms", time_json(drain.from)}, {"until_ms", time_json(drain.until)}};
}

Drain drain_from(const json& in) {
  return {in.at("reason"), optional_time_from(in.at("from_ms")), optional_time_from(in.at("until_ms"))};
}

json reservation_json(const NodeReservation& reservation) {
  return {{"account", reservation.account},
          {"reason", reservation.reason},
          {"from_ms", time_json(reservation.from)},
          {"until_ms", time_json(reservation.until)}};
}

NodeReservation reservation_from(const json& in) {
  return {in.at("account"), in.at("reason"), optional_time_from(in.at("from_ms")),
          optional_time_from(in.at("until_ms"))};
}

json report_json(const RungReport& report) {
  return {{"step", report.step}, {"value", report.value ? json(*report.value) : json()}};
}

RungReport report_from(const json& in) {
  RungReport report{in.at("step"), {}};
  if (!in.at("value").is_null()) report.value = in.at("value").get<double>();
  return report;
}

json time_json(std::optional<Time> time) { return time ? json(to_millis(*time)) : json(nullptr); }

std::optional<Time> optional_time_from(const json& in) {
  if (in.is_null()) return std::nullopt;
  return time_from(in);
}

}  // namespace podium::wire
