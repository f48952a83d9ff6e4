#include "worker/nn/flops.h"

#include "common/model/flops.h"

namespace podium {

double layers_flops(const ModelSpec& spec, const MicroBatch& batch) {
  double forward = 0;
  for (int s = 0; s < batch.sequences; ++s)
    forward += layer_flops(
        spec, batch.valid_lengths.empty() ? batch.length : batch.valid_lengths[static_cast<std::size_t>(s)]);
  return forward;
}

}  // namespace podium
