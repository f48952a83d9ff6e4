// Sums over ranks, exact for whole numbers below 2^53. Collective over the communicator.
#pragma once

#include "worker/comm/communicator.h"
#include "worker/train/task.h"

namespace podium {

void sum_over(Communicator& comm, Sums& sums);
LossSums sum_over(Communicator& comm, const LossSums& losses);

}  // namespace podium
