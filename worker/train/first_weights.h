// The weights that a run begins with, where it has no checkpoint of its own: drawn ones, those of a Hugging
// Face folder, or those of another run's checkpoint (model.init), which are the same at every attempt.
#pragma once

#include <string>
#include <vector>

#include "common/model/launch.h"
#include "common/model/origin.h"
#include "worker/comm/communicator.h"
#include "worker/nn/parameters.h"
#include "worker/train/task.h"

namespace podium {

struct FirstWeights {
  std::vector<std::string> warnings;
  std::string note;                     // what people should know about them
  Origin origin;                        // the checkpoint that they are of; unknown where they are of none
  std::vector<std::string> drawn = {};  // tensors that the source has not; none where there is no source
};

// Fills in all parameters. `model` is the job's with its vocabulary. A head that the source has not, or has
// in another shape or for other labels than the task's, is drawn. Rank 0 writes down the checkpoint that they
// are of (pinned_origin.h). Collective over the world. Throws BadData if the source cannot be read as one,
// and Failure: bad_spec if it has no checkpoint, or a model of another shape or vocabulary, bad_data if none
// is whole or an earlier attempt began with other weights, disk_full if the disk cannot read one at present.
FirstWeights fill_first_weights(const Launch& launch, const ModelSpec& model, const TaskSource& tasks,
                                ParameterStore& parameters, Communicator& world, int threads);

}  // namespace podium
