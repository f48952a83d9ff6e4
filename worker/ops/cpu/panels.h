// Rows times a matrix in panels, by AVX-512: what products for inference are made of.
//
//   sums[r, o] = sum_k x[r, k] w[o, k]     f32 and bf16 summed in f32 in the order of k; i8 exactly, in i32
//
// A panel holds 64 outputs. Its unit is a word of 32 bits: of one output, the next 1 input in f32, 2 in bf16
// or 4 in i8. The words of all 64 outputs lie side by side, then those of the next inputs: an instruction
// multiplies 16 outputs by one word of x. Inputs and outputs that fill a panel up are zero. The instruction
// for i8 takes one operand without a sign, so a panel holds w + 128, and 128 times the row's sum is taken
// off again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>

#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

inline constexpr std::int64_t kPanelOutputs = 64;
inline constexpr int kTileRows = 6;  // with 64 outputs 24 registers of sums: as many as hide their latency
inline constexpr std::int64_t kWordBytes = 4;
inline constexpr std::int64_t kPanelWordBytes = kPanelOutputs * kWordBytes;

// Whether a processor with these instructions has all of `part`.
bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa part);
// Whether it has those that multiply panels of this type.
bool panels_multiply(DType type, dnnl::cpu_isa isa);
// The same of this processor, as far as oneDNN is not told to pass its instructions over
// (ONEDNN_MAX_CPU_ISA). The functions below need them.
bool panels_multiply(DType type);

inline std::int64_t panel_words(DType type, std::int64_t in) {
  const auto per_word = kWordBytes / static_cast<std::int64_t>(size_of(type));
  return (in + per_word - 1) / per_word;
}
inline std::int64_t panel_bytes(DType type, std::int64_t in) {
  return panel_words(type, in) * kPanelWordBytes;
}

// Rows of elements in memory, `stride` bytes apart.
struct MatrixRows {
  const std::byte* begin = nullptr;
  std::int64_t stride = 0;
};

// One panel of w [outputs, in], at most 64 of them.
void pack_panel(DType type, const MatrixRows& w, std::int64_t outputs, std::int64_t in, std::byte* panel);
// The same panel of w transposed, [in, outputs], in f32 or bf16.
void pack_transposed_panel(DType type, const MatrixRows& w, std::int64_t outputs, std::int64_t in,
                           std::byte* panel);

// sums[r] = sum_k x[r, k] of i8.
void sum_rows(const MatrixRows& x, std::int64_t rows, std::int64_t in, std::int32_t* sums);

struct TileTask {
  MatrixRows x;
  int rows = 0;  // 1 to kTileRows
  std::int64_t in = 0;
  const std::byte* panel = nullptr;
  const std::int32_t* x_sums = nullptr;  // of i8: each row's
  // What will be wanted next, fetched into the second-level cache on the way.
  const std::byte* next = nullptr;
  std::int64_t next_bytes = 0;
  float* sums = nullptr;  // [rows, 64], rows `sums_stride` elements apart
  std::int64_t sums_stride = kPanelOutputs;
  bool accumulate = false;  // of floats: go on from what the sums hold
};

void multiply_tile(DType type, const TileTask& task);

}  // namespace podium::ops::cpu
