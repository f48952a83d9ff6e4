// How fast a run trains. Clocks of ranks differ, and a target may be judged by the rate: what counts is rank
// 0's word, the same on all of them.
#pragma once

#include <chrono>
#include <cstdint>

#include "worker/comm/communicator.h"

namespace podium {

class Throughput {
 public:
  // Time spent on training, and the sequences that were trained on in it.
  void add(std::chrono::duration<double> busy, std::int64_t sequences);
  // Sequences a second since the last call, by rank 0's clock. Collective over `world`.
  double take(Communicator& world);

 private:
  std::chrono::duration<double> busy_{};
  std::int64_t sequences_ = 0;
};

}  // namespace podium
