// Heads are spread over the threads; each thread runs its own compiled products over scratch that fits its
// cache.
#include "worker/ops/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/softmax.h"
#include "worker/ops/cpu/state.h"

namespace podium::ops::cpu {
namespace {

// The products of one head, on dense copies of its parts: oneDNN's fast kernels take no strides.
struct HeadProducts {
  HeadProducts(CpuState& state, const AttentionShape& s, DType type, int thread) {
    const std::int64_t l = s.length, d = s.head_size;
    const MatmulOperand head{type}, transposed{.dtype = type, .transposed = true};
    scores = &state.single_thread_matmul(
        {.m = l, .n = l, .k = d, .a = head, .b = transposed, .c = {DType::f32}}, thread);
    weighted =
        &state.single_thread_matmul({.m = l, .n = d, .k = l, .a = {type}, .b = head, .c = head}, thread);
    weighted_transposed =
        &state.single_thread_matmul({.m = l, .n = d, .k = l, .a = transposed, .b = head, .c = head}, thread);
  }

  Matmul* scores;               // [l, l] = x y^T of two heads' parts, f32
  Matmul* weighted;             // [l, d] = weights x
  Matmul* weighted_transposed;  // [l, d] = weights^T x
};

// One thread's products and temporaries.
template <class T>
struct Worker {
  Worker(Context& context, const AttentionShape& s, int thread)
      : products(cpu_state(context), s, dtype_of<T>, thread),
        runtime(cpu_state(context).single_thread_runtime(thread)) {
    const auto head = [&] {
      return context.scratch.allocate(dtype_of<T>, Shape{s.length, s.head_size}).template data<T>();
    };
    query = head(), key = head(), value = head(), out = head();
    scores = context.scratch.allocate(DType::f32, Shape{s.length, s.length}).data<float>();
    weights = context.scratch.allocate(dtype_of<T>, Shape{s.length, s.length}).template data<T>();
    const std::int64_t draw_count = (s.length + kDrawBlock - 1) / kDrawBlock * kDrawBlock;
    draws = static_cast<std::uint16_t*>(
        context.scratch.allocate_bytes(static_cast<std::size_t>(draw_count) * sizeof(std::uint16_t)));
    std::fill_n(draws, draw_count, std::uint16_t{0});
  }

  HeadProducts products;
  MatmulRuntime& runtime;
  T *query, *key, *value, *out;  // [length, head_size]
  float* scores;                 // [length, length]
  T* weights;                    // [length, length]
  std::uint16_t* draws;          // one row's, all zero while nothing is drawn
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

template <class T>
void copy_rows(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t rows,
               std::int64_t columns) {
  const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(T);
  for (std::int64_t i = 0; i < rows; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

// A head's columns of a tensor with rows of `stride` elements, to dense memory and back.
template <class T>
void take_head(const AttentionShape& s, const T* tensor, std::int64_t stride, T* head) {
  copy_rows(tensor, stride, head, s.head_size, s.length, s.head_size);
}
template <class T>
void put_head(const AttentionShape& s, const T* head, T* tensor, std::int64_t stride) {
  copy_rows(head, s.head_size, tensor, stride, s.length, s.head_size);
}

SoftmaxTask softmax_task(const AttentionShape& s, std::int64_t head, std::int64_t valid,
                         const Dropout& dropout) {
  return {.length = s.length,
          .valid = valid,
          .scale = 1.0F / std::sqrt(static_cast<float>(s.head_size)),
          .first_row = dropout.first_row + static_cast<std::uint64_t>(head * s.length)};
}

template <class T>
void forward_head(Worker<T>& w, const AttentionShape& s, const HeadOffsets& at, const SoftmaxTask& task,
                  const Dropout& dropout, const T* qkv, T* probabilities, T* out) {
  const std::int64_t wide = 3 * s.hidden();
  take_head(s, qkv + at.query, wide, w.query);
  take_head(s, qkv + at.key, wide, w.key);
  take_head(s, qkv + at.value, wide, w.value);
  w.products.scores->run(w.runtime, {.a = w.query, .b = w.key, .c = w.scores});
  softmax_rows(task, dropout, w.draws, w.scores, probabilities);
  if (dropout.active()) apply_dropout_sign(probabilities, s.length * s.length, dropout.scale, w.weights);
  w.products.weighted->run(w.runtime,
                           {.a = dropout.active() ? w.weights : probabilities, .b = w.value, .c = w.out});
  put_head(s, w.out, out + at.out, s.hidden());
}

// With D = dropout(P):  dV = D^T dO,  dD = dO V^T,  dS from dD and P,  dQ = dS K,  dK = dS^T Q.
template <class T>
void backward_head(Worker<T>& w, const AttentionShape& s, const HeadOffsets& at, const SoftmaxTask& task,
                   const Dropout& dropout, const T* dout, const T* qkv, const T* probabilities, T* dqkv) {
  const std::int64_t wide = 3 * s.hidden();
  take_head(s, qkv + at.query, wide, w.query);
  take_head(s, qkv + at.key, wide, w.key);
  take_head(s, qkv + at.value, wide, w.value);
  take_head(s, dout + at.out, s.hidden(), w.out);
  w.products.scores->run(w.runtime, {.a = w.out, .b = w.value, .c = w.scores});
  if (dropout.active()) apply_dropout_sign(probabilities, s.length * s.length, dropout.scale, w.weights);
  w.products.weighted_transposed->run(
      w.runtime, {.a = dropout.active() ? w.weights : probabilities, .b = w.out, .c = w.value});
  put_head(s, w.value, dqkv + at.value, wide);
  softmax_rows_backward(task, dropout, probabilities, w.scores, w.weights);
  w.products.weighted->run(w.runtime, {.a = w.weights, .b = w.key, .c = w.out});
  put_head(s, w.out, dqkv + at.query, wide);
  w.products.weighted_transposed->run(w.runtime, {.a = w.weights, .b = w.query, .c = w.out});
  put_head(s, w.out, dqkv + at.key, wide);
}

}  // namespace

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out) {
  const ArenaScope scope(context.scratch);
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    auto workers = make_workers<T>(context, shape);
    parallel_ranges(context.threads, shape.sequences * shape.heads, 1, [&](Range range, int thread) {
      for (std::int64_t head = range.begin; head < range.end; ++head) {
        const HeadOffsets at(shape, head);
        const auto valid = valid_lengths[static_cast<std::size_t>(at.sequence)];
        forward_head(workers[static_cast<std::size_t>(thread)], shape, at,
                     softmax_task(shape, head, valid, dropout), dropout, qkv.data<T>(),
                     probabilities.data<T>() + at.weights, out.data<T>());
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
    parallel_ranges(context.threads, shape.sequences * shape.heads, 1, [&](Range range, int thread) {
      for (std::int64_t head = range.begin; head < range.end; ++head) {
        const HeadOffsets at(shape, head);
        backward_head(workers[static_cast<std::size_t>(thread)], shape, at,
                      softmax_task(shape, head, shape.length, dropout), dropout, dout.data<T>(),
                      qkv.data<T>(), probabilities.data<T>() + at.weights, dqkv.data<T>());
      }
    });
  });
}

}  // namespace podium::ops::cpu
