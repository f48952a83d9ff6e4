#include "worker/ops/cuda/inference/launch.cuh"

namespace podium::ops::cuda {

template void launch_inference_kernel<std::int8_t>(Context&, const InferenceTask&, TilePlan, bool);

}  // namespace podium::ops::cuda
