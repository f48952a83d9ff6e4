// Of a whole history: the ledger of every job against its log, event by event.
#pragma once

#include <string>

#include "tests/sim/sim_cluster.h"

namespace podium::sim {

// "" where the pieces of each job follow one another without a gap while it had not ended, and sum up to the
// devices that it asked for or held, millisecond by millisecond; whatever rank 0 may have told, and when.
std::string ledger_violation(const SimCluster& cluster, Random& random);

}  // namespace podium::sim
