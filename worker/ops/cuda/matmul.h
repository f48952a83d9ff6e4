// The matrix product beneath the linear layers, row-major, sums in f32:
//
//   c [m, n] = a [m, k] b [k, n] (+ bias [n]) (+ c)
//
// and what may end it, with GPT-2's GELU (gelu.h, tanh) over 16-bit results:
//
//   forward:   gelu_input = c,  c = gelu(c)
//   backward:  c = c * gelu'(gelu_input)
//
// Products in FP8 are of e4m3 with e4m3 or of e5m2 with e4m3, with b stored as [n, k] and n and k multiples
// of 16; the product is multiplied by the two operands' scales. The first kind may sum in fewer bits than f32
// has (Hopper's "fast accumulation"), which forward stands and gradients would show.
//
// Products in i8 are exact sums in i32, without bias; b is stored as [n, k], and n and k are multiples of 16.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "worker/tensor/context.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cuda {

enum class ProductEnd { plain, gelu_forward, gelu_backward };

// Equal products share one choice of algorithm.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DType type = DType::f32;    // of a, and of b but for e5m2, with which b is e4m3
  DType result = DType::f32;  // of c and bias; f32, the type of a and b, with FP8 any but that, of i8 i32
  bool transposed_a = false;  // a is stored as [k, m]
  std::int64_t pitch_a = 0;   // elements from one stored row of a to the next; 0: they follow one another
  bool transposed_b = false;  // b is stored as [n, k]
  bool accumulate = false;
  bool bias = false;
  ProductEnd end = ProductEnd::plain;  // else n and k are multiples of 8

  DType type_b() const { return type == DType::e5m2 ? DType::e4m3 : type; }
  bool is_float8() const { return type_b() == DType::e4m3; }

  auto operator<=>(const Product&) const = default;
};

// In device memory, at multiples of 16 bytes.
struct ProductOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;
  const float* scale_a = nullptr;  // with FP8
  const float* scale_b = nullptr;
  void* gelu_input = nullptr;  // like c; with GELU
};

// False: cuBLASLt has no algorithm for it, and nothing has been computed. It is asked once.
[[nodiscard]] bool try_multiply(Context& context, const Product& product, const ProductOperands& operands);
// Throws CudaError where that is so.
void multiply(Context& context, const Product& product, const ProductOperands& operands);

// A product and what follows it, as far as cuBLASLt ends it; false where try_multiply is.
struct EndedProduct {
  Product product;
  std::function<bool()> run;
};
// The first of `ways` that cuBLASLt has, else `apart`, which always can; the fastest while products are
// timed. Then each is done several times over.
void multiply_one_way(Context& context, std::span<const EndedProduct> ways,
                      const std::function<void()>& apart);

// As Backend has them.
std::string product_library(Context& context);
void begin_timing_products(Context& context, double seconds);
nlohmann::json end_timing_products(Context& context);
void choose_products(Context& context, const nlohmann::json& choices);

}  // namespace podium::ops::cuda
