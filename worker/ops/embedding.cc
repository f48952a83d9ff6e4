#include "worker/ops/embedding.h"

#include <algorithm>

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

bool all_below(const Context& context, std::span<const std::int32_t> values, std::int64_t bound) {
  return !backend(context).host_reads_integers ||
         std::ranges::all_of(values, [&](std::int32_t v) { return v >= 0 && v < bound; });
}

void check_table(const ConstTensorView& table, std::int64_t hidden) {
  if (table.address != nullptr)
    check_tensor(table, DType::f32, Shape{table.shape[0], hidden}, "embedding table");
}

// Values in a device's memory are not looked at.
void check_input(const Context& context, const EmbeddingInput& input, const ConstTensorView& word,
                 const ConstTensorView& position, const ConstTensorView& type, const ConstTensorView& y) {
  const auto tokens = static_cast<std::size_t>(y.shape[0]);
  for (const ConstTensorView* table : {&word, &position, &type}) check_table(*table, y.shape[1]);
  PODIUM_CHECK(input.ids.size() == tokens, "one id a row");
  const std::int64_t vocabulary = input.vocabulary > 0 ? input.vocabulary : word.shape[0];
  PODIUM_CHECK(word.address == nullptr || all_below(context, input.ids, vocabulary),
               "token id outside the vocabulary");
  if (position.address != nullptr && input.positions.empty()) {
    PODIUM_CHECK(input.length > 0 && input.length <= position.shape[0],
                 "sequences longer than the position table");
  } else if (position.address != nullptr) {
    PODIUM_CHECK(input.positions.size() == tokens && all_below(context, input.positions, position.shape[0]),
                 "one position a row, within the position table");
  }
  if (type.address != nullptr) {
    PODIUM_CHECK(input.types.size() == tokens && all_below(context, input.types, type.shape[0]),
                 "one token type a row, within the type table");
  }
}

}  // namespace

void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                       TensorView y) {
  check_input(context, input, tables.word, tables.position, tables.type, y);
  const ProfileScope scope(context, "embedding_forward", {.bytes = bytes_of(y)});
  backend(context).embedding_forward(context, input, tables, y);
}

void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                        const EmbeddingGradients& gradients) {
  check_input(context, input, gradients.word, gradients.position, gradients.type, dy);
  const ProfileScope scope(context, "embedding_backward", {.bytes = bytes_of(dy)});
  backend(context).embedding_backward(context, input, dy, gradients);
}

}  // namespace podium::ops
