// The cross-entropy a model without context reaches: every token predicted with its share of the training
// text, add-one smoothed. Training that stays at this value has learnt frequencies only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podium {

class UnigramModel {
 public:
  explicit UnigramModel(const std::vector<std::int64_t>& frequencies);

  double loss(std::int32_t token) const { return losses_[static_cast<std::size_t>(token)]; }  // nats
  double total_loss(std::span<const std::int32_t> tokens) const;

 private:
  std::vector<double> losses_;
};

}  // namespace podium
