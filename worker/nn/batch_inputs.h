// The integers of a micro-batch that kernels read, in the memory that the context computes in: on the host
// those of the batch and its row layout themselves, on a device their copies, which travel together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/nn/row_layout.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/upload_buffer.h"

namespace podium {

// The positions to predict, cut into blocks of one size whose logits fit a fixed budget, so that the logits
// of a whole micro-batch never exist.
struct ScoredBlock {
  std::span<const std::int32_t> rows;  // of the batch; both filled up with negative ones
  std::span<const std::int32_t> labels;
};

class BatchInputs {
 public:
  // Batch and layout must outlive the inputs. `logit_bytes_a_row`: what the logits of one scored row take.
  BatchInputs(const MicroBatch& batch, const RowLayout& layout, std::int64_t logit_bytes_a_row);

  // Moves all to a device's memory, in order with the work on the buffer's stream.
  void upload(UploadBuffer& buffer, Arena& arena);

  // As RowLayout has them.
  std::span<const std::int32_t> ids() const { return ids_; }
  std::span<const std::int32_t> types() const { return types_; }
  std::span<const std::int32_t> positions() const { return positions_; }
  std::span<const std::int32_t> begins() const { return begins_; }
  std::span<const std::int64_t> numbers() const { return numbers_; }

  std::span<const std::int32_t> valid_lengths() const { return valid_lengths_; }  // empty where unpadded
  std::span<const std::int32_t> first_rows() const { return first_rows_; }        // of each sequence
  std::span<const std::int32_t> next_sentence_labels() const { return next_sentence_labels_; }
  std::vector<ScoredBlock> scored_blocks() const;

 private:
  template <class Visit>
  void for_each_array(const Visit& visit) {
    for (auto* array : {&ids_, &types_, &positions_, &begins_, &valid_lengths_, &first_rows_,
                        &next_sentence_labels_, &scored_rows_, &labels_})
      visit(*array);
    visit(numbers_);
  }

  std::int64_t block_ = 0;  // rows of a scored block
  std::vector<std::int32_t> kept_first_rows_, kept_scored_rows_, kept_labels_;

  std::span<const std::int32_t> ids_, types_, positions_, begins_, valid_lengths_, first_rows_,
      next_sentence_labels_, scored_rows_, labels_;
  std::span<const std::int64_t> numbers_;
};

}  // namespace podium
