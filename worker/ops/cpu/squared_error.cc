// One number a sequence: too little to be worth threads.
#include "worker/ops/squared_error.h"

#include "worker/ops/cpu/dispatch.h"

namespace podium::ops::cpu {

void squared_error(Context& /*context*/, ConstTensorView x, std::span<const float> values,
                   CrossEntropySums* sums) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    CrossEntropySums total;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double error = static_cast<double>(to_float(x.data<T>()[i])) - values[i];
      total += {error * error, 1, 0};
    }
    *sums += total;
  });
}

void squared_error_backward(Context& context, TensorView x, std::span<const float> values,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums) {
  cpu::squared_error(context, x, values, sums);
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      T& prediction = x.data<T>()[i];
      const float gradient = scale.value * 2 * (to_float(prediction) - values[i]);
      prediction = from_float<T>(gradient);
      total += gradient;
    }
    if (dbias.address != nullptr) dbias.data<float>()[0] += static_cast<float>(total);
  });
}

}  // namespace podium::ops::cpu
