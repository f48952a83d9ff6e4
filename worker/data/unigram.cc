#include "worker/data/unigram.h"

#include <cmath>
#include <numeric>

namespace podium {

UnigramModel::UnigramModel(const std::vector<std::int64_t>& frequencies) {
  const auto total =
      static_cast<double>(std::accumulate(frequencies.begin(), frequencies.end(), std::int64_t{0})) +
      static_cast<double>(frequencies.size());
  for (const std::int64_t count : frequencies)
    losses_.push_back(std::log(total) - std::log(static_cast<double>(count) + 1));
}

double UnigramModel::total_loss(std::span<const std::int32_t> tokens) const {
  double sum = 0;
  for (const std::int32_t token : tokens) sum += loss(token);
  return sum;
}

}  // namespace podium
