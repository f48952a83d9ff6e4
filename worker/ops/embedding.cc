#include "worker/ops/embedding.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/embedding.h"

namespace podium::ops {
namespace {

void check_input(const EmbeddingInput& input, const ConstTensorView& word, const ConstTensorView& position,
                 const ConstTensorView& type, const ConstTensorView& y) {
  const std::int64_t hidden = y.shape[1];
  PODIUM_CHECK(
      static_cast<std::int64_t>(input.ids.size()) == y.shape[0] && input.types.size() == input.ids.size(),
      "one id and one type a row");
  PODIUM_CHECK(input.length > 0 && input.length <= position.shape[0],
               "sequences longer than the position table");
  for (const std::int32_t id : input.ids)
    PODIUM_CHECK(id >= 0 && id < word.shape[0], "token id outside the vocabulary");
  for (const std::int32_t t : input.types) PODIUM_CHECK(t >= 0 && t < type.shape[0], "unknown token type");
  for (const ConstTensorView* table : {&word, &position, &type}) {
    check_tensor(*table, DType::f32, Shape{table->shape[0], hidden}, "embedding table");
  }
}

}  // namespace

void embedding_forward(Context& context, const EmbeddingInput& input, ConstTensorView word,
                       ConstTensorView position, ConstTensorView type, TensorView y) {
  check_cpu(context);
  check_input(input, word, position, type, y);
  cpu::embedding_forward(context, input, word, position, type, y);
}

void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy, TensorView dword,
                        TensorView dposition, TensorView dtype) {
  check_cpu(context);
  check_input(input, dword, dposition, dtype, dy);
  cpu::embedding_backward(context, input, dy, dword, dposition, dtype);
}

}  // namespace podium::ops
