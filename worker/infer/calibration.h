// Post-training quantisation (Wu et al., 2020): the ranges of the inputs of the encoder's products over real
// text, the model in 8 bits that follows from them, and what that costs.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "worker/infer/magnitudes.h"
#include "worker/infer/masked_text.h"
#include "worker/infer/text_inference.h"

namespace podium {

using InputRanges = std::map<std::string, Magnitudes>;  // by product

// Runs the text through the model, `batch` sequences at a time.
InputRanges observe_inputs(Context& context, TextInference& inference, std::span<const MaskedSequence> text,
                           int batch);

// Of one batch that has been set as the session's inputs.
InputRanges observe_inputs(Context& context, BertSession& session);

struct QuantisationChoice {
  InferencePrecision precision = InferencePrecision::int8;  // or fp8
  bool sparse = false;
  double percentile = 1.0;  // of magnitudes; what is larger saturates
};

// Takes the ranges of a model that is not quantised.
SourceModel quantise_model(const SourceModel& model, const InputRanges& ranges,
                           const QuantisationChoice& choice);

// By what the model was trained to round its inputs (training.quantise); ranges that are empty where it was
// not.
QuantisedInputs trained_inputs(const SourceModel& model);
// In its format. Throws BadData where a product has no range.
SourceModel quantise_trained(const SourceModel& model, bool sparse);

// The ranges of the model that podium-worker calibrate has written into `folder`, by product as
// worker/nn/layer_products.h numbers them. Throws BadData where there is none, one of another shape than
// `model`, or one of another format.
std::vector<float> calibrated_ranges(const std::filesystem::path& folder, const ModelSpec& model,
                                     QuantiseFormat format);

// Two models' answers to the same text, the second one's measured by the first's.
struct Agreement {
  std::int64_t masks = 0;
  double same_choice = 0;      // share of masks whose likeliest token is the same
  double accuracy_before = 0;  // share where it is the one that stood there
  double accuracy_after = 0;
  double embedding_error = 0;  // of the mean hidden states: norm of the difference by norm
};

Agreement compare_models(TextInference& before, TextInference& after, std::span<const MaskedSequence> text,
                         int batch);

}  // namespace podium
