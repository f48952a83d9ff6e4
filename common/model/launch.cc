#include "common/model/launch.h"

#include "common/model/spec_wire.h"

namespace podium {

using nlohmann::json;

std::vector<int> devices_of(const Launch& launch) {
  std::vector<int> devices{launch.device_index};
  devices.insert(devices.end(), launch.more_devices.begin(), launch.more_devices.end());
  return devices;
}

json to_json(const Launch& launch) {
  json out{
      {"version", 1},
      {"job", launch.task.attempt.job.value},
      {"attempt", launch.task.attempt.number},
      {"rank", launch.task.rank},
      {"name", launch.name},
      {"world_size", launch.world_size},
      {"local_rank", launch.local_rank},
      {"local_world_size", launch.local_world_size},
      {"node_rank", launch.node_rank},
      {"nodes", launch.nodes},
      {"node", launch.node.value},
      {"master",
       {{"address", launch.master_address}, {"port", launch.master_port}, {"secret", launch.secret}}},
      {"device", {{"kind", launch.device_kind}, {"index", launch.device_index}, {"threads", launch.threads}}},
      {"spec", to_wire_json(launch.spec)},
      {"paths",
       {{"data", launch.data_folder},
        {"checkpoints", launch.checkpoint_folder},
        {"events", launch.events_path}}},
      {"grace_ms", launch.grace.count()}};
  if (!launch.more_devices.empty()) out["device"]["more"] = launch.more_devices;
  if (!launch.run_id.empty()) out["tracking"] = {{"run_id", launch.run_id}, {"token", launch.run_token}};
  if (!launch.resume_folder.empty()) out["paths"]["resume"] = launch.resume_folder;
  if (!launch.init_folder.empty()) out["paths"]["init"] = launch.init_folder;
  if (!launch.newest_checkpoint.empty())
    out["newest_checkpoint"] = {{"path", launch.newest_checkpoint}, {"step", launch.newest_step}};
  return out;
}

Launch launch_from_json(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("launch version must be 1");
  Launch launch;
  launch.task = {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
  launch.name = in.at("name");
  launch.world_size = in.at("world_size");
  launch.local_rank = in.at("local_rank");
  launch.local_world_size = in.at("local_world_size");
  launch.node_rank = in.at("node_rank");
  launch.nodes = in.at("nodes");
  launch.node.value = in.at("node");
  launch.master_address = in.at("master").at("address");
  launch.master_port = in.at("master").at("port");
  launch.secret = in.at("master").at("secret");
  launch.device_kind = in.at("device").at("kind");
  launch.device_index = in.at("device").at("index");
  launch.more_devices = in.at("device").value("more", launch.more_devices);
  launch.threads = in.at("device").at("threads");
  launch.spec = job_spec_from_json(in.at("spec"));
  if (const auto tracking = in.find("tracking"); tracking != in.end()) {
    launch.run_id = tracking->at("run_id");
    launch.run_token = tracking->at("token");
  }
  launch.data_folder = in.at("paths").at("data");
  launch.checkpoint_folder = in.at("paths").at("checkpoints");
  launch.resume_folder = in.at("paths").value("resume", "");
  launch.init_folder = in.at("paths").value("init", "");
  launch.events_path = in.at("paths").at("events");
  launch.grace = Duration{in.at("grace_ms").get<std::int64_t>()};
  if (const auto newest = in.find("newest_checkpoint"); newest != in.end()) {
    launch.newest_checkpoint = newest->at("path");
    launch.newest_step = newest->at("step");
  }
  return launch;
}

}  // namespace podium
