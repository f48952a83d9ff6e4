// Reader: a job's devices and the energy that they drew.
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/store/energy_rows.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {

namespace {

// The energy of each of these minutes, from the running sums of one attempt, the last first; the earliest of
// the requested minutes stands for all before it.
std::vector<DrawnEnergy> minutes_of(Statement& rows) {
  std::vector<DrawnEnergy> minutes;
  while (rows.next()) {
    const DrawnEnergy so_far{{},
                             from_millis(rows.integer(0)),
                             from_millis(rows.integer(1)),
                             rows.real(2),
                             rows.integer(3),
                             rows.integer(4)};
    if (!minutes.empty()) {
      DrawnEnergy& later = minutes.back();
      later.joules -= so_far.joules;
      later.covered_ms -= so_far.covered_ms;
      later.shared_ms -= so_far.shared_ms;
    }
    minutes.push_back(so_far);
  }
  return minutes;
}

}  // namespace

bool Reader::has_energy(JobId job) {
  Statement row(*database_, "SELECT EXISTS (SELECT 1 FROM energy WHERE job = ?1)");
  row.start(job.value).next();
  return row.integer(0) != 0;
}

EnergySum Reader::energy(JobId job, std::optional<Time> until) {
  const ReadTransaction moment(*database_);
  Statement next_attempt(*database_, "SELECT min(attempt) FROM energy WHERE job = ?1 AND attempt > ?2");
  Statement rows(*database_,
                 "SELECT from_ms, to_ms, joules, covered_ms, shared_ms FROM energy"
                 " WHERE job = ?1 AND attempt = ?2 AND minute <= ?3 ORDER BY minute DESC LIMIT ?4");
  const std::int64_t minute = until ? to_millis(*until) / 60'000 : INT64_MAX;
  EnergySum sum;
  for (std::int64_t attempt = -1;;) {
    const bool found = next_attempt.start(job.value, attempt).next();
    if (!found || next_attempt.is_null(0)) return sum;
    attempt = next_attempt.integer(0);
    const EnergySum more =
        sum_of(minutes_of(rows.start(job.value, attempt, minute, until ? kMinutesAround : 1)), until);
    sum.joules += more.joules;
    sum.covered_ms += more.covered_ms;
    sum.shared_ms += more.shared_ms;
  }
}

std::vector<HeldDevices> Reader::held_devices(JobId job) {
  Statement rows(
      *database_,
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
