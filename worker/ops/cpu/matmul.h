// Matrix products through oneDNN, compiled once a shape and kept.
//
//   c[m, n] (+)= a[m, k] b[k, n] (+ bias[n]) (* factor[m, n])        accumulation in f32
#pragma once

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

// How an operand lies in memory: rows `stride` elements apart; transposed means stored as [k, m] or [n, k].
struct MatmulOperand {
  DType dtype = DType::f32;
  std::int64_t stride = 0;
  bool transposed = false;
  bool packed = false;  // b only: in the layout oneDNN likes best, see `packed_layout`

  auto operator<=>(const MatmulOperand&) const = default;
};

struct MatmulSpec {
  std::int64_t m = 0, n = 0, k = 0;
  MatmulOperand a, b, c;
  bool bias = false;        // f32
  bool accumulate = false;  // add to what c holds
  bool multiply = false;    // by a tensor laid out like c

  auto operator<=>(const MatmulSpec&) const = default;
};

struct MatmulPointers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;
  const void* factor = nullptr;
};

// One compiled product. Used by one thread at a time; it computes with as many threads as it was made for.
class Matmul {
 public:
  Matmul(const dnnl::engine& engine, const MatmulSpec& spec);

  void run(dnnl::stream& stream, const MatmulPointers& pointers);
  // With b in packed_layout().
  void run(dnnl::stream& stream, const MatmulPointers& pointers, const dnnl::memory& packed_b);

  dnnl::memory::desc packed_layout() const { return packed_layout_; }

 private:
  void bind(const MatmulPointers& pointers);

  dnnl::matmul primitive_;
  dnnl::memory::desc packed_layout_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

dnnl::memory::data_type dnnl_type(DType dtype);

}  // namespace podium::ops::cpu
