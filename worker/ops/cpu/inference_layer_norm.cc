#include "worker/ops/inference_layer_norm.h"

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/layer_norm.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/quantise.h"

namespace podium::ops::cpu {
namespace {

// visit(row) by all threads
template <class Visit>
void for_each_row(Context& context, std::int64_t rows, const Visit& visit) {
  parallel_ranges(context.threads, rows, 1, [&](Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row) visit(row);
  });
}

}  // namespace

void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const auto normalise = [&](std::int64_t row) {
      float statistics[2];
      normalise_row(x.data<T>() + row * columns, columns, parameters, y.data<T>() + row * columns,
                    statistics);
    };
    if (!copy.wanted()) return for_each_row(context, rows, normalise);
    with_quantised_type(copy.values.dtype, [&]<class Q>(Type<Q>) {
      for_each_row(context, rows, [&](std::int64_t row) {
        normalise(row);
        quantise_row(y.data<T>() + row * columns, columns, 1.0F / copy.scale,
                     copy.values.data<Q>() + row * columns);
      });
    });
  });
}

}  // namespace podium::ops::cpu
