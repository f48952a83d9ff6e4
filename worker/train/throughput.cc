#include "worker/train/throughput.h"

#include <span>

namespace podium {

void Throughput::add(std::chrono::duration<double> busy, std::int64_t sequences) {
  busy_ += busy;
  sequences_ += sequences;
}

double Throughput::take(Communicator& world) {
  double rate = static_cast<double>(sequences_) / busy_.count();
  world.broadcast(std::as_writable_bytes(std::span(&rate, 1)), 0);
  *this = {};
  return rate;
}

}  // namespace podium
