// The integers and numbers of a micro-batch that kernels read, in the memory that the context computes in. On
// the host they are views of the batch and its row layout; a device gets copies, all in one transfer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/nn/head.h"
#include "worker/nn/row_layout.h"
#include "worker/ops/step_value.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/random.h"
#include "worker/tensor/upload_buffer.h"

namespace podium {

// Rows of the batch, and the label or the value that is predicted at each.
struct ScoredRows {
  std::span<const std::int32_t> rows;
  std::span<const std::int32_t> labels;
  std::span<const float> values = {};
};

// Numbers that differ between micro-batches of one shape.
struct PassValues {
  PhiloxKey dropout_key;
  std::uint64_t first_row = 0;            // numbers the first own row for the dropouts
  std::uint64_t first_attention_row = 0;  // numbers the first row of attention's probabilities for theirs
  std::uint64_t first_sequence = 0;       // numbers the first sequence for those of whole sequences
  float loss_scales[kMostLossTerms] = {};
};

class BatchInputs {
 public:
  // Batch and layout must outlive the inputs. `terms` are the head's, empty without a head. A block of tokens
  // has at most `most_tokens_together` rows.
  BatchInputs(const MicroBatch& batch, const RowLayout& layout, std::span<const LossTerm> terms,
              std::int64_t most_tokens_together, const PassValues& values);

  // Copies everything to the device's memory, in order with the work on the buffer's stream.
  void upload(UploadBuffer& buffer, Arena& arena);

  // The arrays of RowLayout.
  std::span<const std::int32_t> ids() const { return ids_; }
  std::span<const std::int32_t> types() const { return types_; }
  std::span<const std::int32_t> positions() const { return positions_; }
  std::span<const std::int32_t> begins() const { return begins_; }
  // On a device: ops::token_order of ids and of positions.
  std::span<const std::int32_t> id_order() const { return id_order_; }
  std::span<const std::int32_t> position_order() const { return position_order_; }
  std::span<const std::int64_t> numbers() const { return numbers_; }

  std::span<const std::int32_t> valid_lengths() const { return valid_lengths_; }  // empty where unpadded

  ScoredRows targets(std::size_t term) const { return {rows_[term], labels_[term], target_values_[term]}; }
  // For a term of tokens: cuts its rows into blocks of one size whose logits fit a budget, so that the logits
  // of a whole micro-batch never exist. Negative rows and labels fill up the last block.
  std::vector<ScoredRows> blocks(std::size_t term) const;

  template <class T>
  ops::StepValue<T> value(T PassValues::*member) const {
    return {kept_values_.*member, uploaded_ ? &(values_.data()->*member) : nullptr};
  }
  ops::StepValue<float> loss_scale(std::size_t term) const {
    return {kept_values_.loss_scales[term], uploaded_ ? values_.data()->loss_scales + term : nullptr};
  }

  // Two micro-batches of one length have equal extents if the same launches compute both, on memory at the
  // same places of the arena.
  std::vector<std::int64_t> extents() const;

 private:
  template <class Self, class Visit>
  static void for_each_array(Self& self, const Visit& visit) {
    for (auto* array : {&self.ids_, &self.id_order_, &self.types_, &self.positions_, &self.position_order_,
                        &self.begins_, &self.valid_lengths_})
      visit(*array);
    for (auto& rows : self.rows_) visit(rows);
    for (auto& labels : self.labels_) visit(labels);
    for (auto& values : self.target_values_) visit(values);
    visit(self.numbers_);
    visit(self.values_);
  }

  template <class T>
  using OfTerms = std::array<T, kMostLossTerms>;

  OfTerms<std::int64_t> block_{};  // rows of a block; 0: the term predicts no tokens
  bool uploaded_ = false;
  PassValues kept_values_;
  std::vector<std::int32_t> kept_id_order_, kept_position_order_;
  OfTerms<std::vector<std::int32_t>> kept_rows_, kept_labels_;

  std::span<const std::int32_t> ids_, id_order_, position_order_, types_, positions_, begins_, valid_lengths_;
  OfTerms<std::span<const std::int32_t>> rows_, labels_;
  OfTerms<std::span<const float>> target_values_;
  std::span<const std::int64_t> numbers_;
  std::span<const PassValues> values_;
};

}  // namespace podium
