// The algorithms of products as a checkpoint keeps them, one object a product:
//
//   {"product": {"m": 8192, "n": 1024, …}, "algorithm": "0000002a…", "ms": 0.3, "first_ms": 0.4}
//
// An algorithm is cuBLASLt's 64 bytes, which another process on the same device and version of the library
// may use. null: the product is not asked of the library, and the next way is taken (linear.cc).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "worker/ops/cuda/product_library.h"

namespace podium::ops::cuda {

struct ProductChoice {
  std::optional<ProductAlgorithm> algorithm;
  // What they took; 0 where they were not timed.
  float ms = 0;        // the chosen one, or, of none, the next way
  float first_ms = 0;  // the library's first, or, of none, its fastest with all that it ends with
};

using ProductChoices = std::map<Product, ProductChoice>;

nlohmann::json to_json(const ProductChoices& choices);
// Throws std::exception saying what is wrong.
ProductChoices product_choices_from_json(const nlohmann::json& json);

}  // namespace podium::ops::cuda
