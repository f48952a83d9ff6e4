// What the kernels of inference products are given, and how they are put on the stream.
#pragma once

#include "worker/ops/cuda/inference/plan.h"
#include "worker/ops/inference_linear.h"

namespace podium::ops::cuda {

// What follows the sums; see finish.cuh.
struct InferenceFinish {
  const float* scales = nullptr;  // [out]; none: 1
  const float* bias = nullptr;    // [out]; none: 0
  const void* residual = nullptr;
  void* y = nullptr;           // [rows, out], as the residual
  float inverse_scale = 1.0F;  // of y in 8 bits
  DType type = DType::f32;     // of y and the residual
  Activation activation = Activation::none;
  int rows = 0;
  int out = 0;
};

struct InferenceTask {
  const unsigned char* weight = nullptr;    // [out] rows
  const unsigned char* metadata = nullptr;  // of a sparse weight, see sparse.h
  const unsigned char* x = nullptr;         // [rows] rows
  int weight_bytes = 0;                     // of a row, a multiple of 16
  int x_bytes = 0;                          // the same, twice as many where the weight is sparse
  void* partial_sums = nullptr;             // [tiles][splits][outputs * rows of a tile], where splits > 1
  unsigned* tickets = nullptr;              // [tiles], 0 before and after
  InferenceFinish finish;
};

// By the kernel of kernel.cuh; T is the type of x and the weight. `overlaps`: whether the device
// knows dependent launches.
template <class T>
void launch_inference_kernel(Context& context, const InferenceTask& task, TilePlan plan, bool overlaps);

// y = what follows `sums` [rows, out] in f32, i32 or 16 bits, which may lie where y does if there is no
// residual.
void finish_inference(Context& context, ConstTensorView sums, const InferenceFinish& finish);

}  // namespace podium::ops::cuda
