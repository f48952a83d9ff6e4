// The last step of a cross-entropy: the rows' losses and hits added to the caller's sums, in a fixed order.
#pragma once

#include "worker/ops/cross_entropy.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

struct RowResult {
  float loss;
  std::int32_t correct;  // 1 where the label has the highest logit, else 0
};

// What a kernel before has stored.
struct StoredResults {
  const RowResult* results;
  __device__ RowResult operator()(std::int64_t row) const { return results[row]; }
};

inline constexpr unsigned kTotalThreads = 256;

// One block: thread t adds rows t, t + kTotalThreads, ...; then the threads' sums are added in pairs.
// result_of(row) is a row's RowResult, or one like it. Rows with a negative label count for nothing; without
// labels all count.
template <class ResultOf>
__global__ void __launch_bounds__(kTotalThreads)
    totals_kernel(ResultOf result_of, const std::int32_t* labels, std::int64_t rows, CrossEntropySums* sums) {
  __shared__ double losses[kTotalThreads];
  __shared__ std::int32_t counts[kTotalThreads], corrects[kTotalThreads];
  const unsigned thread = threadIdx.x;
  double loss = 0;
  std::int32_t count = 0, correct = 0;
  for (std::int64_t row = thread; row < rows; row += kTotalThreads) {
    if (labels != nullptr && labels[row] < 0) continue;
    const auto result = result_of(row);
    loss += static_cast<double>(result.loss);
    count += 1;
    correct += result.correct;
  }
  losses[thread] = loss;
  counts[thread] = count;
  corrects[thread] = correct;
  for (unsigned others = kTotalThreads / 2; others > 0; others /= 2) {
    __syncthreads();
    if (thread < others) {
      losses[thread] += losses[thread + others];
      counts[thread] += counts[thread + others];
      corrects[thread] += corrects[thread + others];
    }
  }
  if (thread > 0) return;
  sums->loss += losses[0];
  sums->rows += counts[0];
  sums->correct += corrects[0];
}

template <class ResultOf>
void add_totals(Context& context, const char* name, const ResultOf& result_of,
                std::span<const std::int32_t> labels, CrossEntropySums* sums) {
  launch(context, name, totals_kernel<ResultOf>, 1, kTotalThreads, 0, result_of, labels.data(),
         static_cast<std::int64_t>(labels.size()), sums);
}

template <class ResultOf>
void add_totals(Context& context, const char* name, const ResultOf& result_of, std::int64_t rows,
                CrossEntropySums* sums) {
  launch(context, name, totals_kernel<ResultOf>, 1, kTotalThreads, 0, result_of,
         static_cast<const std::int32_t*>(nullptr), rows, sums);
}

}  // namespace podium::ops::cuda
