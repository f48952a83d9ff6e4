#include "worker/ops/cuda/inference/launch.cuh"

namespace podium::ops::cuda {

template void launch_inference_kernel<Float8E4M3>(Context&, const InferenceTask&, TilePlan, bool);

}  // namespace podium::ops::cuda
