#include "worker/nn/batch_inputs.h"

#include <algorithm>
#include <cstring>

#include "worker/ops/token_order.h"

namespace podium {
namespace {

// A run meets few different block sizes to compile products for.
constexpr std::int64_t kRowMultiple = 32;
constexpr std::int32_t kNone = -1;  // a row or label that is not there

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Equal blocks, as few as may be.
std::int64_t block_size(std::int64_t rows, std::int64_t most_together) {
  const std::int64_t most = std::max(kRowMultiple, most_together);
  const std::int64_t blocks = std::max<std::int64_t>(1, (rows + most - 1) / most);
  return rounded_up((rows + blocks - 1) / blocks, kRowMultiple);
}

std::vector<std::int32_t> first_positions(const MicroBatch& batch) {
  std::vector<std::int32_t> positions;
  for (int s = 0; s < batch.sequences; ++s) positions.push_back(s * batch.length);
  return positions;
}

}  // namespace

BatchInputs::BatchInputs(const MicroBatch& batch, const RowLayout& layout, std::int64_t most_scored_together,
                         const PassValues& values)
    : block_(block_size(static_cast<std::int64_t>(batch.labels.size()), most_scored_together)),
      kept_values_(values),
      kept_first_rows_(layout.rows_of(first_positions(batch))),
      kept_scored_rows_(layout.rows_of(batch.scored_positions)),
      kept_labels_(batch.labels),
      ids_(layout.ids()),
      types_(layout.types()),
      positions_(layout.positions()),
      begins_(layout.begins()),
      first_rows_(kept_first_rows_),
      next_sentence_labels_(batch.next_sentence_labels),
      numbers_(layout.numbers()),
      values_(&kept_values_, 1) {
  for (std::vector<std::int32_t>* const filled : {&kept_scored_rows_, &kept_labels_})
    if (!filled->empty())
      filled->resize(static_cast<std::size_t>(rounded_up(static_cast<std::int64_t>(filled->size()), block_)),
                     kNone);
  scored_rows_ = kept_scored_rows_;
  labels_ = kept_labels_;
  if (begins_.empty()) valid_lengths_ = batch.valid_lengths;
}

void BatchInputs::upload(UploadBuffer& buffer, Arena& arena) {
  kept_id_order_ = ops::token_order(ids_);
  kept_position_order_ = ops::token_order(positions_);
  id_order_ = kept_id_order_;
  position_order_ = kept_position_order_;
  const auto room_of = [](const auto& array) {
    return static_cast<std::size_t>(
        rounded_up(static_cast<std::int64_t>(array.size_bytes()), std::int64_t{kAlignment}));
  };
  std::size_t bytes = 0;
  for_each_array(*this, [&](const auto& array) { bytes += room_of(array); });
  std::byte* host = buffer.room(bytes).data();
  auto* const begin = static_cast<std::byte*>(arena.allocate_bytes(bytes));
  std::byte* device = begin;
  for_each_array(*this, [&](auto& array) {
    using Element = typename std::remove_reference_t<decltype(array)>::element_type;
    std::memcpy(host, array.data(), array.size_bytes());
    const std::size_t room = room_of(array);
    array = {reinterpret_cast<Element*>(device), array.size()};
    host += room;
    device += room;
  });
  buffer.send(begin);
  uploaded_ = true;
}

std::vector<std::int64_t> BatchInputs::extents() const {
  std::vector<std::int64_t> extents{block_};
  for_each_array(*this,
                 [&](const auto& array) { extents.push_back(static_cast<std::int64_t>(array.size())); });
  return extents;
}

std::vector<ScoredBlock> BatchInputs::scored_blocks() const {
  std::vector<ScoredBlock> blocks;
  const auto size = static_cast<std::size_t>(block_);
  for (std::size_t begin = 0; begin < scored_rows_.size(); begin += size)
    blocks.push_back({scored_rows_.subspan(begin, size), labels_.subspan(begin, size)});
  return blocks;
}

}  // namespace podium
