// The seam to NVIDIA's cuBLASLt (matmul.cc), of which products.cc chooses the algorithms; where the back
// end's sources run on the host, tests bring a plain loop instead.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "worker/ops/cuda/matmul.h"

namespace podium::ops::cuda {

// Of one product; another process on the same kind of device and library may use it.
using ProductAlgorithm = std::array<std::uint64_t, 8>;

class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;

  // With its version: the algorithms of one are of no use to another.
  virtual std::string name() const = 0;

  // Those that the library hopes are fast, the most hopeful first, the same in every process; none: it
  // refuses the product.
  virtual std::vector<ProductAlgorithm> algorithms(const Product& product,
                                                   const ProductOperands& operands) = 0;
  // Puts the product on the stream. False: the algorithm cannot do it, and nothing has been computed.
  virtual bool start(cudaStream_t stream, const Product& product, const ProductOperands& operands,
                     const ProductAlgorithm& algorithm) = 0;

  // The clock by which timing ends.
  using Clock = std::chrono::steady_clock;
  virtual Clock::time_point now() const { return Clock::now(); }
};

std::unique_ptr<ProductLibrary> make_product_library();

std::string name_of(const Product& product);

}  // namespace podium::ops::cuda
