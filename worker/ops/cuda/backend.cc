#include "worker/ops/cuda/backend.h"

#include <nlohmann/json.hpp>

#include "worker/ops/cuda/matmul.h"

namespace podium::ops::cuda {

// clang-format off
constexpr Backend kBackend{.pads_columns = true,
                           .quantised_activations = DType::f16,
                           PODIUM_OPS(PODIUM_INITIALISE_OP)
                           PODIUM_DEVICE_OPS(PODIUM_INITIALISE_OP)
                           .product_library = product_library,
                           .begin_timing_products = begin_timing_products,
                           .end_timing_products = end_timing_products,
                           .choose_products = choose_products};
// clang-format on

}  // namespace podium::ops::cuda
