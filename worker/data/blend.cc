#include "worker/data/blend.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/check.h"
#include "worker/data/xxh3.h"

namespace podium {

std::vector<double> shares_of(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

Blend::Blend(std::vector<double> weights)
    : weights_(shares_of(std::move(weights))), given_(weights_.size(), 0) {
  PODIUM_CHECK(!weights_.empty() && std::ranges::all_of(weights_, [](double weight) { return weight > 0; }),
               "data sets are mixed by positive weights");
}

std::size_t Blend::furthest_behind() const {
  const double samples = std::max(static_cast<double>(next_), 1.0);
  std::size_t furthest = 0;
  double most = weights_[0] * samples - static_cast<double>(given_[0]);
  for (std::size_t set = 1; set < weights_.size(); ++set) {
    const double behind = weights_[set] * samples - static_cast<double>(given_[set]);
    if (behind > most) {
      most = behind;
      furthest = set;
    }
  }
  return furthest;
}

Blend::Place Blend::operator[](std::int64_t index) {
  PODIUM_CHECK(index >= 0, "samples count from 0");
  if (weights_.size() == 1) return {0, index};
  if (index < next_) {
    next_ = 0;
    std::ranges::fill(given_, 0);
  }
  while (true) {
    const std::size_t set = furthest_behind();
    const std::int64_t sample = given_[set]++;
    if (next_++ == index) return {set, sample};
  }
}

TextIdentity identity_of_blend(std::span<const TextIdentity> sets, std::vector<double> weights) {
  if (sets.size() == 1) return sets.front();
  TextIdentity blend;
  Xxh3 hash;
  for (const TextIdentity& set : sets) {
    blend.tokens += set.tokens;
    blend.sentences += set.sentences;
    hash.add(std::as_bytes(std::span(set.xxh3)));
  }
  const std::vector<double> shares = shares_of(std::move(weights));
  hash.add(std::as_bytes(std::span(shares)));
  blend.xxh3 = hash.digest().xxh3;
  return blend;
}

}  // namespace podium
