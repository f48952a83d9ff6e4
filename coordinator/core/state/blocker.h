// A reason why a job does not start: a code for programs, numbers, and a sentence for people.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"

namespace podium {

enum class BlockerCode {
  held,            // by an operator, or because a restored older database does not know whether it ended
  paused,          // by its sweep, where other trials do better so far, or by its service
  follows,         // it waits for the end of `job`, and perhaps of others
  limit,           // its account would hold `needs` devices of at most `has`
  quota,           // its account would hold `needs` devices and is guaranteed `has`: it can only borrow
  share,           // accounts that have used less of their fair share go first
  back_off,        // it failed several times soon after its start, and waits until `until`
  too_large,       // the known nodes could not hold it even if they were empty
  devices,         // too few are free
  reserved,        // they are free, but it would delay `job`, whose start is reserved for `until`
  maintenance,     // they are free, but its walltime runs into the maintenance windows of `nodes`
  reserved_nodes,  // they are free, but its walltime runs into the reservation of `nodes` for an account
  allocation,      // nodes were asked of Slurm for it, or could not be
  running,         // `job` holds what it needs, on `nodes`, until `until` at the latest
  unavailable,     // `nodes` have devices of its kind and get no work
  avoided,         // `nodes` failed it: it goes elsewhere while it can
  queue,           // `has` jobs go before it, `job` first; `accounts` counts them by account
  fence,           // its attempt starts at `until`: a task of an older one may still run till then
  planning,        // the scheduler has not looked since
};

struct Blocker {
  BlockerCode code = BlockerCode::planning;
  std::string sentence;  // without a full stop; its subject, where missing, is the job
  // For the code `devices`, has < needs. The numbers count devices or, where `per_node` > 0, nodes with
  // `per_node` free devices each.
  std::int64_t needs = 0;
  std::int64_t has = 0;
  int per_node = 0;
  std::optional<JobId> job;
  std::vector<NodeId> nodes;
  std::optional<Time> until;
  std::map<std::string, std::int64_t> accounts;  // jobs, by account

  bool operator==(const Blocker&) const = default;
};

std::string_view to_string(BlockerCode code);

}  // namespace podium
