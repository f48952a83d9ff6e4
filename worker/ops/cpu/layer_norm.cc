#include "worker/ops/cpu/layer_norm.h"

#include <cmath>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/dropout.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

std::int64_t draw_blocks(std::int64_t columns) { return (columns + kDrawBlock - 1) / kDrawBlock; }

// branch = residual + dropout(branch); without dropout the threshold is 0 and every draw keeps.
template <class T>
PODIUM_SIMD_CLONES void add_row(T* branch, const T* residual, std::int64_t columns,
                                const std::uint16_t* draws, std::uint32_t threshold, float scale) {
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) {
    const float kept = draws[j] >= threshold ? to_float(branch[j]) * scale : 0.0F;
    branch[j] = from_float<T>(to_float(residual[j]) + kept);
  }
}

template <class T>
PODIUM_SIMD_CLONES void normalise(const T* x, std::int64_t columns, const float* gamma, const float* beta,
                                  float epsilon, T* y, float* statistics) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < columns; ++j) sum += to_float(x[j]);
  const float mean = sum / static_cast<float>(columns);
  float squares = 0.0F;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t j = 0; j < columns; ++j) {
    const float centred = to_float(x[j]) - mean;
    squares += centred * centred;
  }
  const float inverse = 1.0F / std::sqrt(squares / static_cast<float>(columns) + epsilon);
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) {
    y[j] = from_float<T>((to_float(x[j]) - mean) * inverse * gamma[j] + beta[j]);
  }
  statistics[0] = mean;
  statistics[1] = inverse;
}

// dx of one row; adds the row's share to the gradients of gamma and beta.
template <class T, bool kResidual>
PODIUM_SIMD_CLONES void backward_row(const T* dy, const T* x, const float* statistics, std::int64_t columns,
                                     const float* gamma, const T* dresidual, T* dx, float* dgamma,
                                     float* dbeta) {
  const float mean = statistics[0], inverse = statistics[1];
  float sum = 0.0F, product = 0.0F;
#pragma omp simd reduction(+ : sum, product)
  for (std::int64_t j = 0; j < columns; ++j) {
    const float gradient = to_float(dy[j]);
    const float x_hat = (to_float(x[j]) - mean) * inverse;
    dgamma[j] += gradient * x_hat;
    dbeta[j] += gradient;
    sum += gradient * gamma[j];
    product += gradient * gamma[j] * x_hat;
  }
  const float mean_g = sum / static_cast<float>(columns),
              mean_product = product / static_cast<float>(columns);
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) {
    const float x_hat = (to_float(x[j]) - mean) * inverse;
    const float gradient = inverse * (to_float(dy[j]) * gamma[j] - mean_g - x_hat * mean_product);
    dx[j] = from_float<T>(kResidual ? gradient + to_float(dresidual[j]) : gradient);
  }
}

// y = dropout(x); adds the row to `sums`.
template <class T>
PODIUM_SIMD_CLONES void mask_row(const T* x, std::int64_t columns, const std::uint16_t* draws,
                                 std::uint32_t threshold, float scale, T* y, float* sums) {
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) {
    const float kept = draws[j] >= threshold ? to_float(x[j]) * scale : 0.0F;
    y[j] = from_float<T>(kept);
    sums[j] += kept;
  }
}

// Each thread's sums for gamma, beta and the branch's bias, added to the gradients in thread order.
struct PartialSums {
  PartialSums(Context& context, std::int64_t columns_in)
      : threads(context.threads),
        columns(columns_in),
        values(context.scratch.allocate(DType::f32, Shape{3 * context.threads, columns_in}).data<float>()) {
    std::fill_n(values, 3 * threads * columns, 0.0F);
  }
  float* gamma(int thread) const { return values + 3 * thread * columns; }
  float* beta(int thread) const { return gamma(thread) + columns; }
  float* branch_bias(int thread) const { return beta(thread) + columns; }

  void add_to(const LayerNormGradients& gradients) const {
    for (int thread = 0; thread < threads; ++thread) {
      add(gamma(thread), gradients.gamma);
      add(beta(thread), gradients.beta);
      if (gradients.branch_bias.address != nullptr) add(branch_bias(thread), gradients.branch_bias);
    }
  }

  void add(const float* sums, const TensorView& to) const {
    for (std::int64_t j = 0; j < columns; ++j) to.data<float>()[j] += sums[j];
  }

  std::int64_t threads;
  std::int64_t columns;
  float* values;
};

// What the two backward passes share: the gradient of a row, with or without a residual connection's.
template <class T>
class RowGradient {
 public:
  RowGradient(ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
              const LayerNormParameters& parameters, ConstTensorView dresidual, TensorView dx,
              const PartialSums& sums)
      : columns_(x.shape[1]),
        dy_(dy.data<T>()),
        x_(x.data<T>()),
        statistics_(statistics.data<float>()),
        gamma_(parameters.gamma.data<float>()),
        dresidual_(dresidual.address == nullptr ? nullptr : dresidual.data<T>()),
        dx_(dx.data<T>()),
        sums_(sums) {}

  void operator()(std::int64_t row, int thread) const {
    const std::int64_t at = row * columns_;
    const float* const statistics = statistics_ + 2 * row;
    if (dresidual_ != nullptr) {
      backward_row<T, true>(dy_ + at, x_ + at, statistics, columns_, gamma_, dresidual_ + at, dx_ + at,
                            sums_.gamma(thread), sums_.beta(thread));
    } else {
      backward_row<T, false>(dy_ + at, x_ + at, statistics, columns_, gamma_, nullptr, dx_ + at,
                             sums_.gamma(thread), sums_.beta(thread));
    }
  }

 private:
  std::int64_t columns_;
  const T* dy_;
  const T* x_;
  const float* statistics_;
  const float* gamma_;
  const T* dresidual_;
  T* dx_;
  const PartialSums& sums_;
};

// Room for one row's draws for each thread; all zero, and so all kept, while nothing is drawn.
std::uint16_t* allocate_draws(Context& context, std::int64_t columns) {
  const std::int64_t count = context.threads * draw_blocks(columns) * kDrawBlock;
  auto* draws =
      static_cast<std::uint16_t*>(context.scratch.allocate_bytes(static_cast<std::size_t>(count) * 2));
  std::fill_n(draws, count, std::uint16_t{0});
  return draws;
}

}  // namespace

template <class T>
void normalise_row(const T* x, std::int64_t columns, const LayerNormParameters& parameters, T* y,
                   float* statistics) {
  normalise(x, columns, parameters.gamma.data<float>(), parameters.beta.data<float>(), parameters.epsilon, y,
            statistics);
}
template void normalise_row(const float*, std::int64_t, const LayerNormParameters&, float*, float*);
template void normalise_row(const BFloat16*, std::int64_t, const LayerNormParameters&, BFloat16*, float*);
template void normalise_row(const Float16*, std::int64_t, const LayerNormParameters&, Float16*, float*);

void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                        TensorView y, TensorView statistics) {
  const std::int64_t columns = x.shape[1];
  float* const stats = statistics.data<float>();
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const T* const in = x.data<T>();
    T* const out = y.data<T>();
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        normalise_row(in + i * columns, columns, parameters, out + i * columns, stats + 2 * i);
      }
    });
  });
}

void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                         const LayerNormParameters& parameters, TensorView dx,
                         const LayerNormGradients& gradients, ConstTensorView dresidual) {
  const ArenaScope scope(context.scratch);
  const PartialSums sums(context, x.shape[1]);
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const RowGradient<T> row_gradient(dy, x, statistics, parameters, dresidual, dx, sums);
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int thread) {
      for (std::int64_t i = range.begin; i < range.end; ++i) row_gradient(i, thread);
    });
  });
  sums.add_to(gradients);
}

void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                            const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                            TensorView statistics) {
  const ArenaScope scope(context.scratch);
  const std::int64_t columns = branch.shape[1], blocks = draw_blocks(columns);
  float* const stats = statistics.data<float>();
  std::uint16_t* const all_draws = allocate_draws(context, columns);
  with_float_type(branch.dtype, [&]<class T>(Type<T>) {
    T* const sum = branch.data<T>();
    const T* const shortcut = residual.data<T>();
    T* const out = y.data<T>();
    parallel_ranges(context.threads, branch.shape[0], 1, [&](Range range, int thread) {
      std::uint16_t* const draws = all_draws + thread * blocks * kDrawBlock;
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t at = i * columns;
        if (dropout.active()) draw(dropout, dropout.row(i), 0, blocks, draws);
        add_row(sum + at, shortcut + at, columns, draws, dropout.threshold, dropout.scale);
        normalise_row(sum + at, columns, parameters, out + at, stats + 2 * i);
      }
    });
  });
}

void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                             ConstTensorView statistics, const Dropout& dropout,
                             const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                             const LayerNormGradients& gradients, ConstTensorView dresidual) {
  const ArenaScope scope(context.scratch);
  const std::int64_t columns = sum.shape[1], blocks = draw_blocks(columns);
  std::uint16_t* const all_draws = allocate_draws(context, columns);
  const PartialSums sums(context, columns);
  with_float_type(sum.dtype, [&]<class T>(Type<T>) {
    const RowGradient<T> row_gradient(dy, sum, statistics, parameters, dresidual, dsum, sums);
    const T* const out = dsum.data<T>();
    T* const branch = dbranch.data<T>();
    parallel_ranges(context.threads, sum.shape[0], 1, [&](Range range, int thread) {
      std::uint16_t* const draws = all_draws + thread * blocks * kDrawBlock;
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t at = i * columns;
        row_gradient(i, thread);
        if (dropout.active()) draw(dropout, dropout.row(i), 0, blocks, draws);
        mask_row(out + at, columns, draws, dropout.threshold, dropout.scale, branch + at,
                 sums.branch_bias(thread));
      }
    });
  });
  sums.add_to(gradients);
}

}  // namespace podium::ops::cpu
