// How fast a run trains. The ranks' clocks differ, and a target may be judged by the rate, so all ranks take
// the rate that rank 0 measures.
#pragma once

#include <chrono>
#include <cstdint>

#include "worker/comm/communicator.h"

namespace podium {

class Throughput {
 public:
  // Adds time spent on training and the sequences that were trained on in it.
  void add(std::chrono::duration<double> busy, std::int64_t sequences);
  // Returns the sequences a second since the last call, by rank 0's clock. Collective over `world`.
  double take(Communicator& world);

 private:
  std::chrono::duration<double> busy_{};
  std::int64_t sequences_ = 0;
};

}  // namespace podium
