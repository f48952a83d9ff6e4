// A 2:4 sparse weight in the forms that products read it in.
#pragma once

#include "worker/ops/inference_linear.h"

namespace podium::ops::cuda {

// Where the kept elements stand, in the order in which the tiles' warps read it: [outputs / 16][slabs][steps,
// of 16-bit types half as many][32 lanes] words of sparse_mma.cuh, a slab being as many inputs as 128 bytes
// of kept elements stand for. Outputs are filled up to a multiple of the largest tile's and inputs to a whole
// slab, with positions that mma.sp accepts.
std::size_t metadata_bytes(const InferenceWeight& weight);
void order_metadata(Context& context, const InferenceWeight& weight, void* metadata);

// The dense matrix [out, in], for sizes and types that mma.sp does not take.
void expand(Context& context, const InferenceWeight& weight, void* dense);

}  // namespace podium::ops::cuda
