// What a job's spec means for the model of one process: its layout, its vocabulary and how it computes.
#pragma once

#include <memory>

#include "common/model/spec.h"
#include "worker/comm/parallel.h"
#include "worker/nn/model.h"

namespace podium {

// Throws Failure(bad_spec) if `world` devices cannot be cut as the spec says.
ParallelLayout layout_of(const JobSpec& spec, int world);

// The spec's model. If the spec gives no vocabulary size, it is the tokenizer's, rounded up to a multiple of
// 8. Throws Failure(bad_spec) if the spec's size is too small for the tokenizer's `tokens`.
ModelSpec model_of(const JobSpec& spec, int tokens);

// Calls make_model() with the spec's options. Throws Failure(bad_spec).
std::unique_ptr<Model> make_job_model(Context& context, const JobSpec& spec, const ModelSpec& model,
                                      const HeadPlan& head, const ParallelGroups& groups);

// The number of the whole model's parameters. Parameters that tensor ranks hold alike count once, and so do
// the word embeddings, of which the last stage has a copy. Collective over the group `model`.
std::int64_t model_parameters(const ParameterStore& parameters, const ParallelGroups& groups);

}  // namespace podium
