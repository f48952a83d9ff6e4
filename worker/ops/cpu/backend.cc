#include "worker/ops/cpu/backend.h"

namespace podium::ops::cpu {

constexpr Backend kBackend{.host_reads_integers = true,
                           .keeps_gelu_slope = true,
                           .keeps_probabilities = true,
                           .quantised_activations = DType::f32,
                           PODIUM_OPS(PODIUM_INITIALISE_OP)};

}  // namespace podium::ops::cpu
