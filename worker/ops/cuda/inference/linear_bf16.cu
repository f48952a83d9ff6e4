#include "worker/ops/cuda/inference/launch.cuh"

namespace podium::ops::cuda {

template void launch_inference_kernel<__nv_bfloat16>(Context&, const InferenceTask&, TilePlan, bool);

}  // namespace podium::ops::cuda
