#include "worker/ops/dropout.h"

#include <cmath>

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

Dropout make_dropout(double probability, const StepValue<PhiloxKey>& key, std::uint32_t site,
                     const StepValue<std::uint64_t>& first_row) {
  PODIUM_CHECK(probability >= 0 && probability < 1, "a dropout probability lies in [0, 1)");
  const auto threshold = static_cast<std::uint32_t>(std::lround(probability * 65536.0));
  return {.key = key,
          .site = site,
          .first_row = first_row,
          .threshold = threshold,
          .scale = static_cast<float>(65536.0 / (65536.0 - threshold)),
          .rows = {}};
}

void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) {
  PODIUM_CHECK(x.shape.rank() == 2, "dropout works on [rows, columns]");
  check_tensor(y, x.dtype, x.shape, "y");
  check_dropout_rows(dropout, x.shape[0]);
  const ProfileScope scope(context, "dropout", {.bytes = bytes_of(x, y)});
  if (!dropout.active() && x.address == y.address) return;
  backend(context).dropout(context, x, dropout, y);
}

void add_dropout(Context& context, TensorView branch, ConstTensorView residual, const Dropout& dropout) {
  PODIUM_CHECK(branch.shape.rank() == 2, "dropout works on [rows, columns]");
  check_tensor(residual, branch.dtype, branch.shape, "residual");
  check_dropout_rows(dropout, branch.shape[0]);
  const ProfileScope scope(context, "add_dropout", {.bytes = bytes_of(branch, residual, branch)});
  backend(context).add_dropout(context, branch, residual, dropout);
}

}  // namespace podium::ops
