#include "worker/ops/cpu/stochastic_rounding.h"

#include "common/base/check.h"
#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {
namespace {

float rounded(float value, DType type, std::uint32_t draw) {
  return type == DType::bf16 ? to_float(BFloat16{stochastic_bfloat16(value, draw)})
                             : to_float(Float16{stochastic_float16(value, draw)});
}

// Elements from `first` of the whole parameter on.
void round_row(const float* from, std::int64_t count, PhiloxKey key, std::uint64_t parameter,
               std::int64_t first, DType type, float* to) {
  PhiloxCounter draws{};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<int>((first + i) % kRoundedTogether);
    if (i == 0 || place == 0) draws = rounding_draws(key, parameter, first + i);
    to[i] = rounded(from[i], type, rounding_draw(draws, place));
  }
}

}  // namespace

void round_stochastically(ConstTensorView matrix, const StochasticRounding& rounding, DType type, float* to,
                          int threads) {
  PODIUM_CHECK(type == DType::bf16 || type == DType::f16, "weights are rounded at random to 16 bits");
  const float* from = matrix.data<float>();
  const std::int64_t columns = matrix.shape[1];
  for (const RoundedPart& part : rounding.parts) {
    parallel_ranges(threads, part.rows, 1, [&](Range range, int) {
      for (std::int64_t row = range.begin; row < range.end; ++row)
        round_row(from + row * columns, columns, rounding.key, part.parameter, part.first + row * part.pitch,
                  type, to + row * columns);
    });
    from += part.rows * columns;
    to += part.rows * columns;
  }
}

}  // namespace podium::ops::cpu
