// Which rows the [rows, columns] tensors of a micro-batch have. With padding there is a row for every
// position of every sequence; without padding, a row for every valid token, sequence after sequence. Filler
// rows behind them round the number up. They belong to no token, hold finite values, and have zero gradients.
//
// Under sequence parallelism the rows outside of attention and feed-forward are cut into `parts` equal runs,
// of which a tensor rank owns one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/nn/micro_batch.h"

namespace podium {

struct RowSplit {
  int part = 0;
  int parts = 1;
};

class RowLayout {
 public:
  // The batch must outlive the layout.
  RowLayout(const MicroBatch& batch, bool unpadded, RowSplit split);

  std::int64_t rows() const { return rows_; }
  // No row before this one is filler, in any batch with as many sequences and rows.
  std::int64_t filler_begin() const { return filler_begin_; }
  std::int64_t own_begin() const { return own_begin_; }
  std::int64_t own_rows() const { return own_rows_; }

  // Have an element for every row. `types` and `positions` are as ops::EmbeddingInput wants them.
  std::span<const std::int32_t> ids() const { return ids_.empty() ? batch_.input_ids : ids_; }
  std::span<const std::int32_t> types() const { return types_.empty() ? batch_.token_types : types_; }
  std::span<const std::int32_t> positions() const { return positions_; }

  // Without padding [sequences + 1], as ops::AttentionShape wants them; with padding empty.
  std::span<const std::int32_t> begins() const { return begins_; }
  // For each own row, the place that its token has in the step's global batch with padding; the place selects
  // the token's dropout draws. Empty if the places follow one another from first_number() on.
  std::span<const std::int64_t> numbers() const { return numbers_; }
  std::int64_t first_number() const { return batch_.first_sample * batch_.length + own_begin_; }

  // The rows of the tokens at these flat positions of the batch, none of which may be padding.
  std::vector<std::int32_t> rows_of(std::span<const std::int32_t> positions) const;

 private:
  std::int32_t valid_length(int sequence) const;
  void drop_padding();
  void describe_rows();

  const MicroBatch& batch_;
  std::int64_t filled_ = 0;  // rows that are not filler
  std::int64_t filler_begin_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t own_begin_ = 0;
  std::int64_t own_rows_ = 0;
  std::vector<std::int32_t> begins_;
  std::vector<std::int32_t> ids_, types_, positions_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace podium
