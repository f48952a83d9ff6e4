// Heads are spread over the threads; each thread runs its own compiled products over scratch that fits its
// cache.
#include "worker/ops/cpu/attention.h"

#include <cmath>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/softmax.h"
#include "worker/ops/cpu/state.h"

namespace podium::ops::cpu {
namespace {

// The products of one head; `scores` are f32 and contiguous, `weights` (probabilities, dscores) of the
// tensors' type.
struct HeadProducts {
  HeadProducts(CpuState& state, const AttentionShape& s, DType type, int thread) {
    const std::int64_t wide = 3 * s.hidden(), l = s.length, d = s.head_size;
    const MatmulOperand in_qkv{type, wide}, in_qkv_transposed{type, wide, true}, in_out{type, s.hidden()};
    const MatmulOperand scores{DType::f32, l}, weights{type, l}, weights_transposed{type, l, true};
    query_key = &state.single_thread_matmul(
        {.m = l, .n = l, .k = d, .a = in_qkv, .b = in_qkv_transposed, .c = scores}, thread);
    weights_value =
        &state.single_thread_matmul({.m = l, .n = d, .k = l, .a = weights, .b = in_qkv, .c = in_out}, thread);
    weights_dout = &state.single_thread_matmul(
        {.m = l, .n = d, .k = l, .a = weights_transposed, .b = in_out, .c = in_qkv}, thread);
    dout_value = &state.single_thread_matmul(
        {.m = l, .n = l, .k = d, .a = in_out, .b = in_qkv_transposed, .c = scores}, thread);
    dscores_key =
        &state.single_thread_matmul({.m = l, .n = d, .k = l, .a = weights, .b = in_qkv, .c = in_qkv}, thread);
    dscores_query = &state.single_thread_matmul(
        {.m = l, .n = d, .k = l, .a = weights_transposed, .b = in_qkv, .c = in_qkv}, thread);
  }

  Matmul* query_key;
  Matmul* weights_value;
  Matmul* weights_dout;
  Matmul* dout_value;
  Matmul* dscores_key;
  Matmul* dscores_query;
};

// One thread's products and temporaries.
template <class T>
struct Worker {
  Worker(Context& context, const AttentionShape& s, int thread)
      : products(cpu_state(context), s, dtype_of<T>, thread),
        scores(context.scratch.allocate(DType::f32, Shape{s.length, s.length}).data<float>()),
        weights(context.scratch.allocate(dtype_of<T>, Shape{s.length, s.length}).template data<T>()),
        draws(context.scratch.allocate(DType::f16, Shape{draw_count(s)}).address) {
    std::fill_n(static_cast<std::uint16_t*>(draws), draw_count(s), std::uint16_t{0});
  }
  static std::int64_t draw_count(const AttentionShape& s) {
    return (s.length + kDrawBlock - 1) / kDrawBlock * kDrawBlock;
  }

  HeadProducts products;
  float* scores;
  T* weights;
  void* draws;
};

template <class T>
std::vector<Worker<T>> make_workers(Context& context, const AttentionShape& shape) {
  std::vector<Worker<T>> workers;
  for (int thread = 0; thread < context.threads; ++thread) workers.emplace_back(context, shape, thread);
  return workers;
}

// Where head `index` of all the batch's heads begins in each tensor.
struct HeadOffsets {
  HeadOffsets(const AttentionShape& s, std::int64_t index)
      : sequence(index / s.heads),
        query(sequence * s.length * 3 * s.hidden() + index % s.heads * s.head_size),
        key(query + s.hidden()),
        value(key + s.hidden()),
        out(sequence * s.length * s.hidden() + index % s.heads * s.head_size),
        weights(index * s.length * s.length) {}

  std::int64_t sequence, query, key, value, out, weights;
};

SoftmaxTask softmax_task(const AttentionShape& s, std::int64_t head, std::int64_t valid,
                         const Dropout& dropout) {
  return {.length = s.length,
          .valid = valid,
          .scale = 1.0F / std::sqrt(static_cast<float>(s.head_size)),
          .first_row = dropout.first_row + static_cast<std::uint64_t>(head * s.length)};
}

}  // namespace

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out) {
  const ArenaScope scope(context.scratch);
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    auto workers = make_workers<T>(context, shape);
    dnnl::stream& stream = cpu_state(context).stream();
    const T* const in = qkv.data<T>();
    parallel_ranges(context.threads, shape.sequences * shape.heads, 1, [&](Range range, int thread) {
      Worker<T>& w = workers[static_cast<std::size_t>(thread)];
      for (std::int64_t head = range.begin; head < range.end; ++head) {
        const HeadOffsets at(shape, head);
        const auto valid = valid_lengths[static_cast<std::size_t>(at.sequence)];
        T* const p = probabilities.data<T>() + at.weights;
        w.products.query_key->run(stream, {.a = in + at.query, .b = in + at.key, .c = w.scores});
        softmax_rows(softmax_task(shape, head, valid, dropout), dropout, static_cast<std::uint16_t*>(w.draws),
                     w.scores, p);
        if (dropout.active()) apply_dropout_sign(p, shape.length * shape.length, dropout.scale, w.weights);
        w.products.weights_value->run(
            stream, {.a = dropout.active() ? w.weights : p, .b = in + at.value, .c = out.data<T>() + at.out});
      }
    });
  });
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView qkv, ConstTensorView probabilities, const Dropout& dropout,
                        TensorView dqkv) {
  const ArenaScope scope(context.scratch);
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    auto workers = make_workers<T>(context, shape);
    dnnl::stream& stream = cpu_state(context).stream();
    const T* const in = qkv.data<T>();
    T* const gradient = dqkv.data<T>();
    parallel_ranges(context.threads, shape.sequences * shape.heads, 1, [&](Range range, int thread) {
      Worker<T>& w = workers[static_cast<std::size_t>(thread)];
      for (std::int64_t head = range.begin; head < range.end; ++head) {
        const HeadOffsets at(shape, head);
        const T* const p = probabilities.data<T>() + at.weights;
        const T* const dy = dout.data<T>() + at.out;
        if (dropout.active()) apply_dropout_sign(p, shape.length * shape.length, dropout.scale, w.weights);
        w.products.weights_dout->run(
            stream, {.a = dropout.active() ? w.weights : p, .b = dy, .c = gradient + at.value});
        w.products.dout_value->run(stream, {.a = dy, .b = in + at.value, .c = w.scores});
        softmax_rows_backward(softmax_task(shape, head, shape.length, dropout), dropout, p, w.scores,
                              w.weights);
        w.products.dscores_key->run(stream, {.a = w.weights, .b = in + at.key, .c = gradient + at.query});
        w.products.dscores_query->run(stream, {.a = w.weights, .b = in + at.query, .c = gradient + at.key});
      }
    });
  });
}

}  // namespace podium::ops::cpu
