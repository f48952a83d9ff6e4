// In which types a model computes at inference.
#pragma once

#include <string>
#include <string_view>

#include "worker/tensor/context.h"
#include "worker/tensor/dtype.h"

namespace podium {

// int8 and fp8 (E4M3): the encoder's products; all else is then in f16, or on the CPU in f32.
enum class InferencePrecision { fp32, bf16, fp16, int8, fp8 };

std::string_view to_string(InferencePrecision precision);
// Throws std::invalid_argument naming the choices.
InferencePrecision inference_precision_from(std::string_view name);

// Of the weights and inputs of the encoder's products.
DType product_type(InferencePrecision precision);
// Of what lies between them.
DType activation_type(InferencePrecision precision, const Context& context);

}  // namespace podium
