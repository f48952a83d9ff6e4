// Reader: what a job's devices drew, and which they were.
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/store/reader_impl.h"

namespace podium {

std::vector<EnergyShare> Reader::energy(JobId job) {
  Statement rows(impl_->database,
                 "SELECT attempt, from_ms, to_ms, joules, covered_ms, shared_ms FROM energy WHERE job = ?1"
                 " ORDER BY attempt, minute");
  std::vector<EnergyShare> shares;
  for (rows.start(job.value); rows.next();)
    shares.push_back({{job, rows.small(0)},
                      from_millis(rows.integer(1)),
                      from_millis(rows.integer(2)),
                      rows.real(3),
                      rows.integer(4),
                      rows.integer(5)});
  return shares;
}

std::vector<HeldDevices> Reader::held_devices(JobId job) {
  Statement rows(
      impl_->database,
      "SELECT held.attempt, held.devices, jobs.kind, node_hardware.devices FROM"
      " (SELECT tasks.attempt, node, created_ms, sum(1 + json_array_length(more_devices)) AS devices"
      "  FROM tasks JOIN attempts ON attempts.job = tasks.job AND attempts.number = tasks.attempt"
      "  WHERE tasks.job = ?1 GROUP BY tasks.attempt, node) AS held"
      " JOIN jobs ON jobs.id = ?1"
      " LEFT JOIN node_hardware ON node_hardware.node = held.node AND since_ms ="
      " (SELECT max(since_ms) FROM node_hardware WHERE node = held.node AND since_ms <= created_ms)"
      " ORDER BY held.attempt, held.node");
  std::vector<HeldDevices> held;
  for (rows.start(job.value); rows.next();) {
    HeldDevices devices{rows.small(0), rows.small(1), rows.text(2), {}};
    std::set<std::string> models;
    if (!rows.is_null(3))
      for (const nlohmann::json& device : nlohmann::json::parse(rows.text(3)))
        if (device.at(0) == devices.kind) models.insert(device.at(1).get<std::string>());
    devices.models.assign(models.begin(), models.end());
    held.push_back(std::move(devices));
  }
  return held;
}

}  // namespace podium
