// A pooler's output is one row a sequence: too little to be worth vectorising.
#include "worker/ops/tanh.h"

#include <cmath>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {

void tanh_forward(Context& context, TensorView x) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.size(), 64, [&](Range range, int) {
      for (T& value : x.values<T>().subspan(range.begin, range.end - range.begin)) {
        value = from_float<T>(std::tanh(to_float(value)));
      }
    });
  });
}

void tanh_backward(Context& context, ConstTensorView y, TensorView dy) {
  with_float_type(dy.dtype, [&]<class T>(Type<T>) {
    const T* const activation = y.data<T>();
    T* const gradient = dy.data<T>();
    parallel_ranges(context.threads, dy.size(), 64, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const float value = to_float(activation[i]);
        gradient[i] = from_float<T>(to_float(gradient[i]) * (1.0F - value * value));
      }
    });
  });
}

}  // namespace podium::ops::cpu
