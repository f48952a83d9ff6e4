// What keeps the weights of one model from being another's: its shape, and what its layers compute.
#pragma once

#include <string>
#include <vector>

#include "common/model/spec.h"

namespace podium {

struct ShapeDifference {
  std::string key;  // of the section `model`
  std::string theirs, ours;
};

// Of a model that has weights, and of one that is to take them. Vocabularies are compared where both are
// known; a larger one of ours is no difference, for it begins with the tokens of theirs.
std::vector<ShapeDifference> shape_differences(const ModelSpec& theirs, const ModelSpec& ours);

// "model.layers is 12 there and 24 here, model.hidden is 768 there and 1024 here"
std::string describe(const std::vector<ShapeDifference>& differences);

// What keeps a job of `ours`, whose model.init names a job, from beginning with the weights of that job,
// which is of `theirs`, as far as the specs say; "" for nothing.
std::string why_no_weights(const JobSpec& theirs, const JobSpec& ours);

}  // namespace podium
