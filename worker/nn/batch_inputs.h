// The integers and numbers of a micro-batch that kernels read, in the memory that the context computes in: on
// the host those of the batch and its row layout themselves, on a device their copies, which travel together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/nn/row_layout.h"
#include "worker/ops/step_value.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/random.h"
#include "worker/tensor/upload_buffer.h"

namespace podium {

// The positions to predict, cut into blocks of one size whose logits fit a budget, so that the logits
// of a whole micro-batch never exist.
struct ScoredBlock {
  std::span<const std::int32_t> rows;  // of the batch; both filled up with negative ones
  std::span<const std::int32_t> labels;
};

// Numbers that differ between micro-batches of one shape.
struct PassValues {
  PhiloxKey dropout_key;
  std::uint64_t first_row = 0;            // the first own row's number among the dropouts'
  std::uint64_t first_attention_row = 0;  // and that of the first sequence's in attention's
  float language_scale = 0.0F;            // LossScales
  float next_sentence_scale = 0.0F;
};

class BatchInputs {
 public:
  // Batch and layout must outlive the inputs. `most_scored_together`: rows of a scored block.
  BatchInputs(const MicroBatch& batch, const RowLayout& layout, std::int64_t most_scored_together,
              const PassValues& values);

  // Moves all to a device's memory, in order with the work on the buffer's stream.
  void upload(UploadBuffer& buffer, Arena& arena);

  // As RowLayout has them.
  std::span<const std::int32_t> ids() const { return ids_; }
  std::span<const std::int32_t> types() const { return types_; }
  std::span<const std::int32_t> positions() const { return positions_; }
  std::span<const std::int32_t> begins() const { return begins_; }
  // ops::token_order of ids and positions, on a device.
  std::span<const std::int32_t> id_order() const { return id_order_; }
  std::span<const std::int32_t> position_order() const { return position_order_; }
  std::span<const std::int64_t> numbers() const { return numbers_; }

  std::span<const std::int32_t> valid_lengths() const { return valid_lengths_; }  // empty where unpadded
  std::span<const std::int32_t> first_rows() const { return first_rows_; }        // of each sequence
  std::span<const std::int32_t> next_sentence_labels() const { return next_sentence_labels_; }
  std::vector<ScoredBlock> scored_blocks() const;

  template <class T>
  ops::StepValue<T> value(T PassValues::*member) const {
    return {kept_values_.*member, uploaded_ ? &(values_.data()->*member) : nullptr};
  }

  // Equal for micro-batches of one length that are computed by the same launches, on memory at the same
  // places of the arena.
  std::vector<std::int64_t> extents() const;

 private:
  template <class Self, class Visit>
  static void for_each_array(Self& self, const Visit& visit) {
    for (auto* array : {&self.ids_, &self.id_order_, &self.types_, &self.positions_, &self.position_order_,
                        &self.begins_, &self.valid_lengths_, &self.first_rows_, &self.next_sentence_labels_,
                        &self.scored_rows_, &self.labels_})
      visit(*array);
    visit(self.numbers_);
    visit(self.values_);
  }

  std::int64_t block_ = 0;  // rows of a scored block
  bool uploaded_ = false;
  PassValues kept_values_;
  std::vector<std::int32_t> kept_first_rows_, kept_scored_rows_, kept_labels_, kept_id_order_,
      kept_position_order_;

  std::span<const std::int32_t> ids_, id_order_, position_order_, types_, positions_, begins_, valid_lengths_,
      first_rows_, next_sentence_labels_, scored_rows_, labels_;
  std::span<const std::int64_t> numbers_;
  std::span<const PassValues> values_;
};

}  // namespace podium
