// How attention is cut into products: heads padded to a multiple of 16 rows, so that sequences of many
// lengths need few compiled products, and their queries taken in blocks. A causal block looks only at the
// keys up to its own end. Pure over shapes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "worker/ops/attention.h"

namespace podium::ops::cpu {

// Queries [begin, begin + rows) of a head against its keys [0, keys).
struct QueryBlock {
  std::int64_t begin = 0;
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t probabilities = 0;  // where the block's [rows, keys] begin within its head's
};

// A head of `length` rows, padding included; all sequences of one padded length share it.
struct HeadPlan {
  std::int64_t length = 0;
  std::vector<QueryBlock> blocks;
  std::int64_t probabilities = 0;  // of all blocks together
};

struct SequencePlan {
  std::int64_t first_row = 0;  // of the batch's rows
  std::int64_t rows = 0;
  std::int64_t probabilities = 0;  // where those of its first head begin
  const HeadPlan* head = nullptr;
};

class AttentionPlan {
 public:
  explicit AttentionPlan(const AttentionShape& shape);
  AttentionPlan(const AttentionPlan&) = delete;  // sequences point into heads
  AttentionPlan& operator=(const AttentionPlan&) = delete;

  const std::map<std::int64_t, HeadPlan>& heads() const { return heads_; }  // by padded length
  const SequencePlan& sequence(std::int64_t i) const { return sequences_[static_cast<std::size_t>(i)]; }
  std::int64_t probabilities() const { return probabilities_; }

 private:
  std::map<std::int64_t, HeadPlan> heads_;
  std::vector<SequencePlan> sequences_;
  std::int64_t probabilities_ = 0;
};

}  // namespace podium::ops::cpu
