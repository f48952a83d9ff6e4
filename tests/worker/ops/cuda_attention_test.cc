// CUDA's attention against the CPU back end where its tiling depends on the batch, and under every order of
// threads.
#include <cstring>

#include "tests/cuda_shim/block.h"
#include "tests/worker/ops/op_check.h"
#include "worker/ops/attention.h"
#include "worker/ops/inference_attention.h"

namespace podium::test {
namespace {

// One batch.
struct Attention {
  Attention(DType type, const ops::AttentionShape& s)
      : shape(s),
        qkv(tensor_of(random_values(s.rows() * 3 * s.hidden(), 1), type, {s.rows(), 3 * s.hidden()})),
        dout(tensor_of(random_values(s.rows() * s.hidden(), 2), type, {s.rows(), s.hidden()})),
        out(type, {s.rows(), s.hidden()}),
        dqkv(type, {s.rows(), 3 * s.hidden()}) {}

  void forward(Context& context) {
    const ops::AttentionSaved kept = ops::attention_saved(context, shape, qkv.dtype(), dropout);
    saved = Tensor(kept.dtype, {kept.count});
    ops::attention_forward(context, shape, qkv.view(), valid, dropout, saved.view(), out.view());
  }
  void backward(Context& context) {
    ops::attention_backward(context, shape, dout.view(), out.view(), qkv.view(), valid, saved.view(), dropout,
                            dqkv.view());
  }

  const ops::Dropout dropout = ops::make_dropout(0.1, philox_key(1, 2), 3, 4);
  ops::AttentionShape shape;
  std::vector<std::int32_t> valid;
  Tensor qkv, dout, out, dqkv, saved;
};

void expect_close_to_cpu(const Tensor& actual, const Tensor& expected, const char* what) {
  const DType type = actual.dtype();
  const double tolerance = type == DType::f32 ? 1e-5 : type == DType::bf16 ? 6e-3 : 1e-3;
  expect_close(values_of(actual), values_of(expected), tolerance, what);
}

// Enough heads for forward's tiling of large batches; two sequences are longer than its tiles and the others
// short.
TEST(CudaAttention, ComputesWhatTheCpuComputesForLargeBatches) {
  Context cuda = make_context(1), cpu{.threads = 2};
  std::vector<std::int32_t> begins = {0, 200, 330};
  while (begins.size() < 65) begins.push_back(begins.back() + 2);
  for (const std::int64_t head_size : {64, 128}) {
    SCOPED_TRACE(head_size);
    const DType type = head_size == 64 ? DType::bf16 : DType::f16;
    const ops::AttentionShape shape{.sequences = 64,
                                    .length = 200,
                                    .heads = 2,
                                    .head_size = head_size,
                                    .causal = head_size == 64,
                                    .row_begins = begins,
                                    .packed_rows = begins.back()};
    Attention actual(type, shape), expected(type, shape);
    actual.forward(cuda);
    expected.forward(cpu);
    expect_close_to_cpu(actual.out, expected.out, "out");
  }
}

TEST(CudaAttention, ComputesWhatTheCpuComputesInF32) {
  Context cuda = make_context(1), cpu{.threads = 2};
  for (const std::int64_t head_size : {20, 64, 256}) {
    SCOPED_TRACE(head_size);
    const ops::AttentionShape shape{
        .sequences = 2, .length = 67, .heads = 2, .head_size = head_size, .causal = head_size == 64};
    Attention actual(DType::f32, shape), expected(DType::f32, shape);
    for (Attention* const attention : {&actual, &expected}) {
      Context& context = attention == &actual ? cuda : cpu;
      attention->forward(context);
      attention->backward(context);
    }
    expect_close_to_cpu(actual.out, expected.out, "out");
    expect_close_to_cpu(actual.dqkv, expected.dqkv, "dqkv");
  }
}

TEST(CudaAttention, DoesNotDependOnTheOrderOfThreads) {
  for (const DType type : {DType::bf16, DType::f32}) {
    for (const std::int64_t head_size : {64, 128}) {
      shim::results_in_every_order([&] {
        Context context = make_context(1);
        Attention attention(
            type,
            {.sequences = 2, .length = 150, .heads = 1, .head_size = head_size, .causal = head_size == 64});
        attention.valid = {150, 70};
        attention.forward(context);
        attention.backward(context);
        std::vector<std::byte> results;
        for (Tensor* const tensor : {&attention.out, &attention.dqkv}) {
          const auto* const bytes = static_cast<const std::byte*>(tensor->view().address);
          results.insert(results.end(), bytes, bytes + tensor->view().bytes());
        }
        return results;
      });
    }
  }
}

// Keys split over a block's warps, in two stages of copies.
TEST(CudaAttention, SplitKeysDoNotDependOnTheOrderOfThreads) {
  shim::results_in_every_order([&] {
    Context context = make_context(1);
    Attention attention(DType::f16, {.sequences = 1, .length = 150, .heads = 1, .head_size = 64});
    attention.valid = {140};
    ops::inference_attention(context, attention.shape, attention.qkv.view(), attention.valid,
                             attention.out.view());
    const auto* const bytes = static_cast<const std::byte*>(attention.out.view().address);
    return std::vector<std::byte>(bytes, bytes + attention.out.view().bytes());
  });
}

}  // namespace
}  // namespace podium::test
