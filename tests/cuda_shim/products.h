// What the loop in cuBLASLt's place can be made to refuse, as cuBLASLt may on a device.
#pragma once

#include <functional>

#include "worker/ops/cuda/matmul.h"

namespace podium::shim {

constexpr int kEveryAlgorithm = -1;  // it finds none; else one of its three, which it found before

// As long as this lives; products that were chosen before are not asked for again, but started.
class RefusedProducts {
 public:
  using Refusal = std::function<bool(const ops::cuda::Product&, int algorithm)>;

  explicit RefusedProducts(Refusal refusal);
  ~RefusedProducts();
  RefusedProducts(const RefusedProducts&) = delete;
  RefusedProducts& operator=(const RefusedProducts&) = delete;
};

}  // namespace podium::shim
