// A model in host memory on its way to inference: from a Hugging Face folder, a checkpoint, a quantised
// folder (quantised_folder.h), or with random weights.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/checkpoint/manifest.h"
#include "worker/formats/full_tensors.h"
#include "worker/infer/linear_data.h"
#include "worker/infer/precision.h"
#include "worker/nn/families/family.h"

namespace podium {

struct TokenizerSource {
  std::string what;       // as load_tokenizer takes it; "" where the model came without
  bool lowercase = true;  // with wordpiece:
};

TokenizerSource wordpiece_source(const std::filesystem::path& vocabulary, bool lowercase);

struct SourceModel {
  std::string origin;            // how messages name it
  std::filesystem::path folder;  // where it lies: of a folder of checkpoints, the one that was taken
  ModelSpec spec;
  ModelHead head;
  TokenizerSource tokenizer;
  std::optional<CheckpointManifest> checkpoint;  // where it is one
  std::map<std::string, FullTensor> tensors;     // f32, under our names; heads may be absent
  // Of a quantised model alone: the encoder's products by name (encoder_products), and their precision. Their
  // parameters are not among the tensors.
  std::map<std::string, LinearData> products;
  std::optional<InferencePrecision> quantised_to;

  bool has(const std::string& name) const { return tensors.contains(name); }
  const std::vector<float>& values(const std::string& name) const;
};

// One dense layer of the encoder; where several are computed as one product they stand in their order.
struct EncoderProduct {
  std::string name;
  std::vector<std::string> layers;  // with .weight [out, in] and .bias [out]
  std::int64_t out = 0;             // of all together
  std::int64_t in = 0;
};

// Query, key and value as one; the attention's output; the feed-forward's two.
std::array<EncoderProduct, 4> encoder_products(const ModelSpec& spec, int layer);

// The product's weight [out, in] and bias [out] in f32, of a model that is not quantised.
struct ProductValues {
  std::vector<float> weight, bias;
};
ProductValues product_values(const SourceModel& model, const EncoderProduct& product);

// Throws BadData unless the model in `folder` is a BERT.
void check_family(const std::filesystem::path& folder, const ModelSpec& spec);
// Whether 2:4 sparsity fits the extents of the encoder's products.
bool can_be_sparse(const ModelSpec& spec);

// Detects what the folder holds, a model of any family; of a folder of checkpoints it takes the newest whole
// one. Paths within a checkpoint's spec begin at `data_folder`. The tensors, but those of a quantised model,
// are for read_tensors(). Throws BadData.
SourceModel find_source_model(const std::filesystem::path& folder, const std::filesystem::path& data_folder);
void read_tensors(SourceModel& model);
// Both.
SourceModel read_source_model(const std::filesystem::path& folder, const std::filesystem::path& data_folder);

// With all heads; the values are a function of the model's shape alone.
SourceModel random_source_model(const ModelSpec& spec);

}  // namespace podium
