// The tiles of plan.h for one type of x and the weight. Their stages are as many as leave room for
// two blocks on a multiprocessor of Hopper, so that the next kernel's blocks fetch their weights beside this
// one's; but for the largest tile's, whose registers leave room for one.
#pragma once

#include "worker/ops/cuda/inference/kernel.cuh"
#include "worker/ops/cuda/inference/launch_dependent.h"
#include "worker/ops/cuda/inference/plan.h"

namespace podium::ops::cuda {

template <class T, bool kSparse, int kNumber>
auto tile_shape() {
  if constexpr (kNumber == 0) return Tile<T, kSparse, TileShape<32, 32, 1, 1, 4, kSparse ? 6 : 8>>{};
  if constexpr (kNumber == 1) return Tile<T, kSparse, TileShape<64, 32, 2, 1, 2, kSparse ? 5 : 8>>{};
  if constexpr (kNumber == 2) return Tile<T, kSparse, TileShape<64, 64, 2, 2, 2, kSparse ? 4 : 6>>{};
  if constexpr (kNumber == 3) return Tile<T, kSparse, TileShape<128, 64, 4, 2, 1, kSparse ? 3 : 4>>{};
  if constexpr (kNumber == 4) return Tile<T, kSparse, TileShape<128, 128, 4, 2, 1, kSparse ? 3 : 4>>{};
}

template <class T, bool kSparse, int kNumber>
void launch_tile(Context& context, const InferenceTask& task, int splits, bool overlaps) {
  using Shape = decltype(tile_shape<T, kSparse, kNumber>());
  static_assert(Shape::kOut == kTileSizes[kNumber].out && Shape::kRows == kTileSizes[kNumber].rows);
  static_assert(Shape::kSharedBytes <= kTileSizes[kNumber].shared_bytes);
  const auto kernel = inference_kernel<Shape>;
  check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes),
             "inference_linear");
  const dim3 grid(static_cast<unsigned>((task.finish.rows + Shape::kRows - 1) / Shape::kRows),
                  static_cast<unsigned>((task.finish.out + Shape::kOut - 1) / Shape::kOut),
                  static_cast<unsigned>(splits));
  launch_dependent(context, overlaps, "inference_linear", kernel, grid, Shape::kThreads, Shape::kSharedBytes,
                   task);
}

template <class T, bool kSparse>
void launch_numbered_tile(Context& context, const InferenceTask& task, TilePlan plan, bool overlaps) {
  switch (plan.tile) {
    case 0:
      return launch_tile<T, kSparse, 0>(context, task, plan.splits, overlaps);
    case 1:
      return launch_tile<T, kSparse, 1>(context, task, plan.splits, overlaps);
    case 2:
      return launch_tile<T, kSparse, 2>(context, task, plan.splits, overlaps);
    case 3:
      return launch_tile<T, kSparse, 3>(context, task, plan.splits, overlaps);
    default:
      return launch_tile<T, kSparse, 4>(context, task, plan.splits, overlaps);
  }
}

template <class T>
void launch_inference_kernel(Context& context, const InferenceTask& task, TilePlan plan, bool overlaps) {
  if (task.metadata != nullptr) return launch_numbered_tile<T, true>(context, task, plan, overlaps);
  launch_numbered_tile<T, false>(context, task, plan, overlaps);
}

}  // namespace podium::ops::cuda
