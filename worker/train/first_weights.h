// The weights that a run begins with, where it has no checkpoint of its own: drawn ones, those of a Hugging
// Face folder, or those of another run's checkpoint (model.init).
#pragma once

#include <string>
#include <vector>

#include "common/model/launch.h"
#include "common/model/origin.h"
#include "worker/comm/communicator.h"
#include "worker/nn/parameters.h"

namespace podium {

struct FirstWeights {
  std::vector<std::string> warnings;
  std::string note;  // what people should know about them
  Origin origin;     // the checkpoint that they are of; unknown where they are of none
};

// Fills in all parameters. `model` is the job's with its vocabulary. A head that the source has not, or has
// in another shape or for other labels than `labels`, is drawn. Collective over the world. Throws BadData if
// the source cannot be read as one, and Failure: bad_spec if it has no checkpoint or a model of another
// shape, bad_data if none is whole, disk_full if the disk cannot read one at present.
FirstWeights fill_first_weights(const Launch& launch, const ModelSpec& model,
                                const std::vector<std::string>& labels, ParameterStore& parameters,
                                Communicator& world, int threads);

}  // namespace podium
