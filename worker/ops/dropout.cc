#include "worker/ops/dropout.h"

#include <cmath>

#include "worker/ops/check.h"
#include "worker/ops/cpu/dropout.h"

namespace podium::ops {

Dropout make_dropout(double probability, PhiloxKey key, std::uint32_t site, std::uint64_t first_row) {
  PODIUM_CHECK(probability >= 0 && probability < 1, "a dropout probability lies in [0, 1)");
  const auto threshold = static_cast<std::uint32_t>(std::lround(probability * 65536.0));
  return {key, site, first_row, threshold, static_cast<float>(65536.0 / (65536.0 - threshold))};
}

void dropout(Context& context, TensorView x, const Dropout& dropout) {
  check_cpu(context);
  PODIUM_CHECK(x.shape.rank() == 2, "dropout works on [rows, columns]");
  if (dropout.active()) cpu::dropout(context, x, dropout);
}

}  // namespace podium::ops
