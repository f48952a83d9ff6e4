#include "worker/nn/micro_batch.h"

#include <utility>

namespace podium {

Targets sequence_targets(std::vector<std::int32_t> labels, int length) {
  Targets targets{{}, std::move(labels)};
  for (std::size_t s = 0; s < targets.labels.size(); ++s)
    targets.positions.push_back(static_cast<std::int32_t>(s) * length);
  return targets;
}

LossSum& LossSum::operator+=(const LossSum& other) {
  loss += other.loss;
  count += other.count;
  correct += other.correct;
  return *this;
}

LossSums& operator+=(LossSums& sums, const LossSums& more) {
  for (std::size_t term = 0; term < sums.size(); ++term) sums[term] += more[term];
  return sums;
}

}  // namespace podium
