// How attention's kernels are chosen and put on the stream.
#pragma once

#include "worker/ops/cuda/attention_task.cuh"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/shared.cuh"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

template <class T, int kHeadSize>
struct TiledHead {};

// body(TiledHead<T, kHeadSize>{}) with the smallest size compiled that holds the head.
template <class Body>
void with_tiled_head(DType dtype, int head_size, const Body& body) {
  const auto with_size = [&]<class T>(Type<T>) {
    if (head_size <= 32) return body(TiledHead<T, 32>{});
    if (head_size <= 64) return body(TiledHead<T, 64>{});
    if (head_size <= 80) return body(TiledHead<T, 80>{});
    if (head_size <= 96) return body(TiledHead<T, 96>{});
    PODIUM_CHECK(head_size <= 128, "tiled attention holds heads of at most 128 columns");
    return body(TiledHead<T, 128>{});
  };
  PODIUM_CHECK(dtype == DType::bf16 || dtype == DType::f16, "tiled attention multiplies 16-bit types");
  if (dtype == DType::bf16) return with_size(Type<__nv_bfloat16>{});
  with_size(Type<__half>{});
}

// A block for every `rows` rows of every head of every sequence.
inline dim3 attention_grid(const AttentionTask& task, std::int64_t sequences, int rows) {
  return {static_cast<unsigned>((task.length + rows - 1) / rows), static_cast<unsigned>(task.heads),
          static_cast<unsigned>(sequences)};
}

template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  constexpr std::size_t kDefaultBytes = 48 << 10;  // a kernel must ask for more
  if (bytes <= kDefaultBytes) return;
  check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "asking for shared memory");
}

template <class... Parameters, class... Arguments>
void launch_attention(Context& context, const char* name, void (*kernel)(AttentionTask, Parameters...),
                      const AttentionTask& task, std::int64_t sequences, int rows, unsigned threads,
                      std::size_t shared_bytes, Arguments... arguments) {
  allow_shared_memory(kernel, shared_bytes);
  launch(context, name, kernel, attention_grid(task, sequences, rows), threads, shared_bytes, task,
         arguments...);
}

}  // namespace podium::ops::cuda
