// Matrix products of dense row-major operands through oneDNN, compiled once a shape and kept.
//
//   c[m, n] (+)= a[m, k] b[k, n] (+ bias[n]) (* factor[m, n])        accumulation in f32, of i8 in i32
//
// f16 operands, and on a CPU without bf16 instructions bf16 ones, are widened and multiplied in f32: the same
// products, and faster than the emulation oneDNN offers on some such CPUs.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "worker/tensor/arena.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

struct MatmulOperand {
  DType dtype = DType::f32;
  bool transposed = false;  // stored as [k, m] or [n, k]
  bool packed = false;      // b only: in the layout oneDNN likes best, see `packed_layout`

  auto operator<=>(const MatmulOperand&) const = default;
};

struct MatmulSpec {
  std::int64_t m = 0, n = 0, k = 0;
  MatmulOperand a, b, c;
  bool bias = false;        // f32
  bool accumulate = false;  // add to what c holds
  bool multiply = false;    // by a tensor of c's type
  bool pack_b = false;      // b comes plain and is brought into oneDNN's layout first, in scratch memory

  auto operator<=>(const MatmulSpec&) const = default;
};

struct MatmulPointers {
  const void* a = nullptr;
  const void* b = nullptr;  // not for a packed b
  void* c = nullptr;
  const void* bias = nullptr;
  const void* factor = nullptr;
};

// What a product runs with; one for all threads together, or one for each thread that computes alone.
struct MatmulRuntime {
  MatmulRuntime(const dnnl::engine& engine, int threads_in) : stream(engine), threads(threads_in) {}

  dnnl::stream stream;
  int threads;
  Arena scratch;  // widened and packed operands
};

// One compiled product. Used by one thread at a time; it computes with as many threads as it was made for.
class Matmul {
 public:
  Matmul(const dnnl::engine& engine, const MatmulSpec& spec);

  void run(MatmulRuntime& runtime, const MatmulPointers& pointers);
  // With b in packed_layout().
  void run(MatmulRuntime& runtime, const MatmulPointers& pointers, const dnnl::memory& packed_b);

  const dnnl::memory::desc& packed_layout() const { return packed_layout_; }

 private:
  void execute(MatmulRuntime& runtime, const MatmulPointers& pointers);
  void pack(MatmulRuntime& runtime, const void* b);
  void execute_widened(MatmulRuntime& runtime, const MatmulPointers& pointers);
  void run_either(MatmulRuntime& runtime, const MatmulPointers& pointers);

  MatmulSpec spec_;
  bool widened_;  // 16-bit operands by way of f32
  dnnl::matmul primitive_;
  dnnl::memory::desc packed_layout_;
  std::unordered_map<int, dnnl::memory> arguments_;
  dnnl::memory plain_b_;   // where pack_b
  dnnl::reorder packing_;  // of it into arguments_
};

}  // namespace podium::ops::cpu
