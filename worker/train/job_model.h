// What a job's spec means for the model of one process: its layout, its vocabulary, how it computes, and the
// weights it begins with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/comm/parallel.h"
#include "worker/nn/model.h"

namespace podium {

// Throws Failure(bad_spec) where `world` devices cannot be cut as the spec says.
ParallelLayout layout_of(const JobSpec& spec, int world);

// The spec's model; a vocabulary left to the tokenizer is its size padded to a multiple of 8. Throws
// Failure(bad_spec) where the spec's is too small for the tokenizer's `tokens`.
ModelSpec model_of(const JobSpec& spec, int tokens);

// make_model with what the spec says. Throws Failure(bad_spec).
std::unique_ptr<Model> make_job_model(Context& context, const JobSpec& spec, const ModelSpec& model,
                                      const HeadPlan& head, const ParallelGroups& groups);

// Fresh weights, or those of model.init below `data_folder`; returns what should be noted about them. Throws
// BadData.
std::vector<std::string> fill_first_weights(const JobSpec& spec, const ModelSpec& model,
                                            const std::filesystem::path& data_folder,
                                            ParameterStore& parameters, int threads);

// Parameters of the whole model, over all its ranks: what tensor ranks hold alike and the last stage's copy
// of the word embeddings count once. Collective over the groups' model.
std::int64_t model_parameters(const ParameterStore& parameters, const ParallelGroups& groups);

}  // namespace podium
