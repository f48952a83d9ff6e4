// A dense layer's weight in host memory in the type and layout that products for inference take
// (worker/ops/inference_linear.h), and how it is made from f32. Pure.
//
//   8 bits: one scale for each output (row of the weight), its largest magnitude / the type's largest value;
//   inputs have one scale for the whole tensor (Wu et al., "Integer Quantization for Deep Learning Inference:
//   Principles and Empirical Evaluation", 2020).
//   2:4:    of each four neighbouring inputs the two of largest magnitude are kept (Mishra et al., 2021).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "worker/tensor/dtype.h"

namespace podium {

struct LinearData {
  DType type = DType::f32;
  std::int64_t out = 0;
  std::int64_t in = 0;
  std::vector<std::byte> values;        // [out, in], sparse [out, in / 2]
  std::vector<std::uint8_t> positions;  // [out, in / 8] of a sparse weight, else empty
  std::vector<float> weight_scales;     // [out] of 8 bits, else empty
  float input_scale = 1.0F;             // of 8 bits
  std::vector<float> bias;              // [out]

  bool sparse() const { return !positions.empty(); }
  std::vector<float> product_scales() const;  // what the op multiplies sums by
};

struct LinearFormat {
  DType type = DType::f32;
  bool sparse = false;
  float input_scale = 1.0F;  // of 8 bits
};

// The scale at which `largest` becomes the largest value of an 8-bit type.
float scale_for(DType type, float largest);

// `in` of a sparse weight is a multiple of 8.
LinearData make_linear_data(std::span<const float> weight, std::span<const float> bias,
                            const LinearFormat& format);

// The f32 [out, in] that `data` stands for.
std::vector<float> dense_values(const LinearData& data);

}  // namespace podium
