// Attention's kernels for Hopper, whose warpgroups multiply tiles where they lie in shared memory: heads of
// 33 to 64 columns, for a context that multiplies_by_warpgroups(). Otherwise as in attention_kernels.h.
#pragma once

#include "worker/ops/cuda/attention_task.cuh"
#include "worker/tensor/context.h"

namespace podium::ops::cuda {

inline constexpr int kWarpgroupHeadSize = 64;

namespace backward {
template <class T>
struct Tensors;
}

// `out` may be null. T __half or __nv_bfloat16; Out T, or with __half an 8-bit type in units of 1 /
// out_factor.
template <class T, class Out>
void warpgroup_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                                 const T* qkv, Out* out, float out_factor);

template <class T>
void warpgroup_attention_backward_queries(Context& context, const AttentionTask& task, std::int64_t sequences,
                                          const backward::Tensors<T>& tensors);
template <class T>
void warpgroup_attention_backward_keys(Context& context, const AttentionTask& task, std::int64_t sequences,
                                       const backward::Tensors<T>& tensors);

}  // namespace podium::ops::cuda
