#include "worker/nn/micro_batch.h"

#include <utility>

namespace podium {

namespace {

std::vector<std::int32_t> first_positions(std::size_t sequences, int length) {
  std::vector<std::int32_t> positions;
  for (std::size_t s = 0; s < sequences; ++s) positions.push_back(static_cast<std::int32_t>(s) * length);
  return positions;
}

}  // namespace

Targets sequence_targets(std::vector<std::int32_t> labels, int length) {
  return {first_positions(labels.size(), length), std::move(labels), {}};
}

Targets sequence_values(std::vector<float> values, int length) {
  return {first_positions(values.size(), length), {}, std::move(values)};
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
