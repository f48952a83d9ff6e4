// Gives a model the weights of another run's checkpoint, of any layout.
#pragma once

#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/checkpoint/search.h"
#include "worker/nn/parameters.h"

namespace podium {

// Fills the parameters in `parameters`, whole or slices, that the checkpoint has in the same shape; of those
// by token it may have fewer rows, and the rest keep their values. Returns the names of the others and of
// those to be left alone, which keep theirs. `model`, with its vocabulary, has no shape_differences() with
// the checkpoint's. Calls weights_changed(). Throws Failure(disk_full) if the disk cannot read.
std::vector<std::string> transfer_weights(const WholeCheckpoint& from, const ModelSpec& model,
                                          ParameterStore& parameters,
                                          const std::vector<std::string>& left_alone = {});

}  // namespace podium
