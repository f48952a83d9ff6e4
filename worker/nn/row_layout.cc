#include "worker/nn/row_layout.h"

#include "common/base/check.h"
#include "worker/tensor/shape.h"

namespace podium {
namespace {

// Unpadded rows are rounded up to a multiple of this, so that a run meets few different shapes to compile
// products for.
constexpr std::int64_t kUnpaddedMultiple = 64;

void check_batch(const MicroBatch& batch) {
  const auto sequences = static_cast<std::size_t>(batch.sequences);
  const std::size_t tokens = sequences * static_cast<std::size_t>(batch.length);
  PODIUM_CHECK(batch.sequences > 0 && batch.length > 0, "a batch has at least one token");
  PODIUM_CHECK(batch.input_ids.size() == tokens, "one id a position");
  PODIUM_CHECK(batch.token_types.empty() || batch.token_types.size() == tokens,
               "one type a position, or none");
  PODIUM_CHECK(batch.valid_lengths.empty() || batch.valid_lengths.size() == sequences,
               "one valid length a sequence, or none");
  for (const Targets& targets : batch.targets)
    PODIUM_CHECK(targets.positions.size() == targets.labels.size() + targets.values.size() ||
                     (targets.positions.empty() && targets.labels.empty()),
                 "one label or value a position to predict, or a teacher's scores");
}

}  // namespace

RowLayout::RowLayout(const MicroBatch& batch, bool unpadded, RowSplit split)
    : batch_(batch), filled_(std::int64_t{batch.sequences} * batch.length) {
  check_batch(batch);
  if (unpadded) drop_padding();
  const std::int64_t multiple = (unpadded ? kUnpaddedMultiple : 1) * split.parts;
  rows_ = rounded_up(filled_, multiple);
  filler_begin_ = unpadded ? rows_ - multiple : filled_;
  own_rows_ = rows_ / split.parts;
  own_begin_ = own_rows_ * split.part;
  if (unpadded || rows_ > filled_) describe_rows();
}

std::int32_t RowLayout::valid_length(int sequence) const {
  return batch_.valid_lengths.empty() ? batch_.length
                                      : batch_.valid_lengths[static_cast<std::size_t>(sequence)];
}

void RowLayout::drop_padding() {
  begins_.push_back(0);
  for (int s = 0; s < batch_.sequences; ++s) begins_.push_back(begins_.back() + valid_length(s));
  filled_ = begins_.back();
}

void RowLayout::describe_rows() {
  const auto rows = static_cast<std::size_t>(rows_);
  const std::int64_t first = batch_.first_sample * batch_.length;
  std::vector<std::int64_t> numbers;
  for (int s = 0; s < batch_.sequences; ++s) {
    const std::int32_t length = begins_.empty() ? batch_.length : valid_length(s);
    for (std::int32_t t = 0; t < length; ++t) {
      const auto token = static_cast<std::size_t>(s * batch_.length + t);
      ids_.push_back(batch_.input_ids[token]);
      if (!batch_.token_types.empty()) types_.push_back(batch_.token_types[token]);
      positions_.push_back(t);
      numbers.push_back(first + static_cast<std::int64_t>(token));
    }
  }
  ids_.resize(rows);
  if (!batch_.token_types.empty()) types_.resize(rows);
  positions_.resize(rows);
  if (begins_.empty()) return;
  numbers.resize(rows);
  numbers_.assign(numbers.begin() + own_begin_, numbers.begin() + own_begin_ + own_rows_);
}

std::vector<std::int32_t> RowLayout::rows_of(std::span<const std::int32_t> positions) const {
  std::vector<std::int32_t> rows(positions.begin(), positions.end());
  if (begins_.empty()) return rows;
  for (std::int32_t& row : rows) {
    const std::int32_t sequence = row / batch_.length, position = row % batch_.length;
    PODIUM_CHECK(position < valid_length(sequence), "only valid tokens have a row in an unpadded batch");
    row = begins_[static_cast<std::size_t>(sequence)] + position;
  }
  return rows;
}

}  // namespace podium
