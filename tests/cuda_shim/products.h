// What the loop in cuBLASLt's place can be made to refuse, as cuBLASLt may on a device, and how long it is to
// take. Of its three algorithms the second adds in the opposite order: its sums have other bits.
#pragma once

#include <functional>
#include <string>

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

// As long as this lives: how long a product takes on the made-up clock, and the library's name.
class MadeUpProducts {
 public:
  using Milliseconds = std::function<double(const ops::cuda::Product&, int algorithm)>;

  explicit MadeUpProducts(Milliseconds duration, std::string library = "loops 1");
  ~MadeUpProducts();
  MadeUpProducts(const MadeUpProducts&) = delete;
  MadeUpProducts& operator=(const MadeUpProducts&) = delete;
};

}  // namespace podium::shim
