// An entry of libpodium_cuda.so beside those of device_library.h: tests take every way of an inference
// product by it, also those that no shape of theirs would be given.
#pragma once

#include "worker/ops/cuda/inference/linear.h"

namespace podium::ops::cuda {

struct InferenceEntry {
  std::vector<InferenceWay> (*ways)(Context& context, const InferenceProduct& product);
  // False where the way does not do this product: cuBLASLt may refuse one.
  bool (*compute)(Context& context, const InferenceProduct& product, const InferenceWay& way);
};

inline constexpr const char* kInferenceEntry = "podium_inference_entry";  // const InferenceEntry* ()

}  // namespace podium::ops::cuda
