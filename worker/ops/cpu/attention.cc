// Heads are spread over the threads; each thread runs its own compiled products over scratch that fits its
// cache.
#include "worker/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "worker/ops/cpu/attention_plan.h"
#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"
#include "worker/ops/cpu/softmax.h"
#include "worker/ops/cpu/state.h"

namespace podium::ops::cpu {
namespace {

// The products of one block of queries, on dense copies of a head's parts: oneDNN's fast kernels take no
// strides.
struct BlockProducts {
  QueryBlock block;
  // Shared with the context's state, which may drop them for others.
  std::shared_ptr<Matmul> scores;      // [rows, keys] = x y^T, f32
  std::shared_ptr<Matmul> weighted;    // [rows, d] = weights x
  std::shared_ptr<Matmul> transposed;  // [keys, d] (+)= weights^T x, f32: a sum over the blocks of a head
};

// In backward the last block, which looks at the most keys, comes first and begins the sums.
BlockProducts make_products(CpuState& state, const HeadPlan& plan, std::size_t index, std::int64_t d,
                            DType type, int thread) {
  const QueryBlock& block = plan.blocks[index];
  const std::int64_t rows = block.rows, keys = block.keys;
  const bool first = index + 1 == plan.blocks.size();
  const MatmulOperand plain{type}, transposed{.dtype = type, .transposed = true};
  const auto made = [&](const MatmulSpec& spec) { return state.single_thread_matmul(spec, thread); };
  return {block, made({.m = rows, .n = keys, .k = d, .a = plain, .b = transposed, .c = {DType::f32}}),
          made({.m = rows, .n = d, .k = keys, .a = plain, .b = plain, .c = plain}),
          made({.m = keys,
                .n = d,
                .k = rows,
                .a = transposed,
                .b = plain,
                .c = {DType::f32},
                .accumulate = !first})};
}

// All heads of one padded length.
using HeadProducts = std::map<std::int64_t, std::vector<BlockProducts>>;

HeadProducts make_products(CpuState& state, const AttentionPlan& plan, std::int64_t d, DType type,
                           int thread) {
  HeadProducts products;
  for (const auto& [length, head] : plan.heads()) {
    for (std::size_t i = 0; i < head.blocks.size(); ++i) {
      products[length].push_back(make_products(state, head, i, d, type, thread));
    }
  }
  return products;
}

// One head of one sequence: where it lies in the tensors, and how to turn its scores into probabilities.
struct Head {
  Head(const AttentionShape& s, const AttentionPlan& plan, std::span<const std::int32_t> valid_lengths,
       const Dropout& dropout, std::int64_t index)
      : sequence(plan.sequence(index / s.heads)),
        column(index % s.heads * s.head_size),
        probabilities(sequence.probabilities + index % s.heads * sequence.head->probabilities),
        valid(valid_lengths.empty() ? sequence.rows
                                    : valid_lengths[static_cast<std::size_t>(index / s.heads)]),
        first_dropout_row(
            dropout.first_row.value +
            static_cast<std::uint64_t>((index / s.heads * (s.total_heads > 0 ? s.total_heads : s.heads) +
                                        s.first_head + index % s.heads) *
                                       s.length)) {}

  SoftmaxTask softmax_task(const AttentionShape& s, const QueryBlock& block) const {
    return {.rows = std::min(block.rows, sequence.rows - block.begin),
            .padded_rows = block.rows,
            .keys = block.keys,
            .valid = std::min(valid, block.keys),
            .first_query = block.begin,
            .causal = s.causal,
            .scale = 1.0F / std::sqrt(static_cast<float>(s.head_size)),
            .first_dropout_row = first_dropout_row + static_cast<std::uint64_t>(block.begin)};
  }

  const SequencePlan& sequence;
  std::int64_t column;         // of the hidden ones
  std::int64_t probabilities;  // where the head's begin
  std::int64_t valid;
  std::uint64_t first_dropout_row;
};

// A head's columns of a tensor with rows of `stride` elements, to dense memory, zero from row `rows` up to
// `padded`, and back.
template <class T>
void take_rows(const T* tensor, std::int64_t stride, std::int64_t rows, std::int64_t padded, std::int64_t d,
               T* head) {
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(tensor + i * stride, d, head + i * d);
  std::fill(head + rows * d, head + padded * d, T{});
}
template <class From, class To>
PODIUM_SIMD_CLONES void put_rows(const From* head, std::int64_t rows, std::int64_t d, To* tensor,
                                 std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (std::int64_t j = 0; j < d; ++j) tensor[i * stride + j] = from_float<To>(to_float(head[i * d + j]));
  }
}

// One thread's products and temporaries.
template <class T>
class Worker {
 public:
  Worker(Context& context, const AttentionShape& shape, const AttentionPlan& plan, const Dropout& dropout,
         int thread)
      : shape_(shape),
        dropout_(dropout),
        products_(make_products(cpu_state(context), plan, shape.head_size, dtype_of<T>, thread)),
        runtime_(cpu_state(context).single_thread_runtime(thread)) {
    const HeadPlan& longest = plan.heads().rbegin()->second;
    const Shape head{longest.length, shape.head_size}, scores{longest.blocks.front().rows, longest.length};
    const auto typed = [&](const Shape& s) {
      return context.scratch.allocate(dtype_of<T>, s).template data<T>();
    };
    const auto wide = [&](const Shape& s) { return context.scratch.allocate(DType::f32, s).data<float>(); };
    query_ = typed(head), key_ = typed(head), value_ = typed(head), out_ = typed(head);
    dquery_ = typed(head), dkey_ = wide(head), dvalue_ = wide(head);
    scores_ = wide(scores), weights_ = typed(scores), probabilities_ = typed(scores);
    const std::int64_t draws = (longest.length + kDrawBlock - 1) / kDrawBlock * kDrawBlock;
    draws_ = static_cast<std::uint16_t*>(
        context.scratch.allocate_bytes(static_cast<std::size_t>(draws) * sizeof(std::uint16_t)));
    std::fill_n(draws_, draws, std::uint16_t{0});
  }

  // `stored` is where all probabilities go, or nullptr.
  void forward(const Head& head, const T* qkv, T* stored, T* out) {
    take_query_key_value(head, qkv);
    for (const BlockProducts& p : products_.at(head.sequence.head->length)) {
      T* const probabilities =
          stored == nullptr ? probabilities_ : stored + head.probabilities + p.block.probabilities;
      compute_probabilities(head, p, probabilities);
      p.weighted->run(
          runtime_,
          {.a = dropped_out(p, probabilities), .b = value_, .c = out_ + p.block.begin * shape_.head_size});
    }
    put(head, out_, out + head.column, shape_.hidden());
  }

  void backward(const Head& head, const T* dout, const T* qkv, const T* stored, T* dqkv) {
    take_query_key_value(head, qkv);
    take(head, dout + head.column, shape_.hidden(), out_);
    const std::vector<BlockProducts>& blocks = products_.at(head.sequence.head->length);
    for (auto p = blocks.rbegin(); p != blocks.rend(); ++p) {
      if (stored == nullptr) compute_probabilities(head, *p, probabilities_);
      backward_block(
          head, *p,
          stored == nullptr ? probabilities_ : stored + head.probabilities + p->block.probabilities);
    }
    const std::int64_t wide = 3 * shape_.hidden();
    put(head, dquery_, dqkv + head.column, wide);
    put(head, dkey_, dqkv + shape_.hidden() + head.column, wide);
    put(head, dvalue_, dqkv + 2 * shape_.hidden() + head.column, wide);
  }

 private:
  void take(const Head& head, const T* columns, std::int64_t stride, T* to) {
    take_rows(columns + head.sequence.first_row * stride, stride, head.sequence.rows,
              head.sequence.head->length, shape_.head_size, to);
  }
  template <class From>
  void put(const Head& head, const From* from, T* columns, std::int64_t stride) {
    put_rows(from, head.sequence.rows, shape_.head_size, columns + head.sequence.first_row * stride, stride);
  }

  void take_query_key_value(const Head& head, const T* qkv) {
    const std::int64_t hidden = shape_.hidden();
    take(head, qkv + head.column, 3 * hidden, query_);
    take(head, qkv + hidden + head.column, 3 * hidden, key_);
    take(head, qkv + 2 * hidden + head.column, 3 * hidden, value_);
  }

  void compute_probabilities(const Head& head, const BlockProducts& p, T* probabilities) {
    p.scores->run(runtime_, {.a = query_ + p.block.begin * shape_.head_size, .b = key_, .c = scores_});
    softmax_rows(head.softmax_task(shape_, p.block), dropout_, draws_, scores_, probabilities);
  }

  // dropout(P), in weights_ where it differs from P.
  const T* dropped_out(const BlockProducts& p, const T* probabilities) {
    if (!dropout_.active()) return probabilities;
    apply_dropout_sign(probabilities, p.block.rows * p.block.keys, dropout_.scale, weights_);
    return weights_;
  }

  // With D = dropout(P):  dV = D^T dO,  dD = dO V^T,  dS from dD and P,  dQ = dS K,  dK = dS^T Q.
  void backward_block(const Head& head, const BlockProducts& p, const T* probabilities) {
    const std::int64_t begin = p.block.begin * shape_.head_size;
    p.scores->run(runtime_, {.a = out_ + begin, .b = value_, .c = scores_});
    p.transposed->run(runtime_, {.a = dropped_out(p, probabilities), .b = out_ + begin, .c = dvalue_});
    softmax_rows_backward(head.softmax_task(shape_, p.block), dropout_, probabilities, scores_, weights_);
    p.weighted->run(runtime_, {.a = weights_, .b = key_, .c = dquery_ + begin});
    p.transposed->run(runtime_, {.a = weights_, .b = query_ + begin, .c = dkey_});
  }

  const AttentionShape& shape_;
  const Dropout& dropout_;
  HeadProducts products_;
  MatmulRuntime& runtime_;
  T *query_, *key_, *value_, *out_, *dquery_;  // [length, head_size]; out_ is dO in backward
  float *dkey_, *dvalue_;                      // [length, head_size]
  float* scores_;                              // [rows, length]
  T *weights_, *probabilities_;                // [rows, length]
  std::uint16_t* draws_;                       // one row's, all zero while nothing is drawn
};

// run(worker, head) for every head of the batch.
template <class T, class Run>
void for_each_head(Context& context, const AttentionShape& shape, std::span<const std::int32_t> valid_lengths,
                   const Dropout& dropout, const Run& run) {
  const ArenaScope scope(context.scratch);
  const AttentionPlan plan(shape);
  std::vector<Worker<T>> workers;  // made here: products are compiled by one thread
  for (int thread = 0; thread < context.threads; ++thread) {
    workers.emplace_back(context, shape, plan, dropout, thread);
  }
  parallel_ranges(context.threads, shape.sequences * shape.heads, 1, [&](Range range, int thread) {
    for (std::int64_t index = range.begin; index < range.end; ++index) {
      run(workers[static_cast<std::size_t>(thread)], Head(shape, plan, valid_lengths, dropout, index));
    }
  });
}

}  // namespace

AttentionSaved attention_saved(const Context& /*context*/, const AttentionShape& shape, DType qkv,
                               const Dropout& /*dropout*/) {
  return {qkv, AttentionPlan(shape).probabilities()};
}

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out) {
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    T* const stored = probabilities.address == nullptr ? nullptr : probabilities.data<T>();
    for_each_head<T>(context, shape, valid_lengths, dropout, [&](Worker<T>& worker, const Head& head) {
      worker.forward(head, qkv.data<T>(), stored, out.data<T>());
    });
  });
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView /*out*/, ConstTensorView qkv,
                        std::span<const std::int32_t> valid_lengths, ConstTensorView probabilities,
                        const Dropout& dropout, TensorView dqkv, TensorView column_sums) {
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    const T* const stored = probabilities.address == nullptr ? nullptr : probabilities.data<T>();
    for_each_head<T>(context, shape, valid_lengths, dropout, [&](Worker<T>& worker, const Head& head) {
      worker.backward(head, dout.data<T>(), qkv.data<T>(), stored, dqkv.data<T>());
    });
  });
  if (column_sums.address != nullptr) add_column_sums(context, dqkv, column_sums);
}

}  // namespace podium::ops::cpu
