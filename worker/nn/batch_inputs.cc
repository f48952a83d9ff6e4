#include "worker/nn/batch_inputs.h"

#include <algorithm>
#include <cstring>

#include "worker/ops/token_order.h"
#include "worker/tensor/shape.h"

namespace podium {
namespace {

// A run meets few different block sizes to compile products for.
constexpr std::int64_t kRowMultiple = 32;
constexpr std::int32_t kNone = -1;  // a row or label that is not there

// Equal blocks, as few as may be.
std::int64_t block_size(std::int64_t rows, std::int64_t most_together) {
  const std::int64_t most = std::max(kRowMultiple, most_together);
  const std::int64_t blocks = std::max<std::int64_t>(1, (rows + most - 1) / most);
  return rounded_up((rows + blocks - 1) / blocks, kRowMultiple);
}

}  // namespace

BatchInputs::BatchInputs(const MicroBatch& batch, const RowLayout& layout, std::span<const LossTerm> terms,
                         std::int64_t most_tokens_together, const PassValues& values)
    : kept_values_(values),
      ids_(layout.ids()),
      types_(layout.types()),
      positions_(layout.positions()),
      begins_(layout.begins()),
      numbers_(layout.numbers()),
      values_(&kept_values_, 1) {
  for (std::size_t term = 0; term < terms.size(); ++term) {
    std::vector<std::int32_t>&rows = kept_rows_[term], &labels = kept_labels_[term];
    rows = layout.rows_of(batch.targets[term].positions);
    labels = batch.targets[term].labels;
    if (terms[term].of_tokens) {
      const std::int64_t count = std::ssize(labels);
      block_[term] = block_size(count, most_tokens_together);
      for (auto* const filled : {&rows, &labels})
        filled->resize(static_cast<std::size_t>(rounded_up(count, block_[term])), kNone);
    }
    rows_[term] = rows;
    labels_[term] = labels;
    target_values_[term] = batch.targets[term].values;
  }
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
  std::vector<std::int64_t> extents(block_.begin(), block_.end());
  for_each_array(*this,
                 [&](const auto& array) { extents.push_back(static_cast<std::int64_t>(array.size())); });
  return extents;
}

std::vector<ScoredRows> BatchInputs::blocks(std::size_t term) const {
  std::vector<ScoredRows> blocks;
  const auto size = static_cast<std::size_t>(block_[term]);
  for (std::size_t begin = 0; begin < rows_[term].size(); begin += size)
    blocks.push_back({rows_[term].subspan(begin, size), labels_[term].subspan(begin, size)});
  return blocks;
}

}  // namespace podium
