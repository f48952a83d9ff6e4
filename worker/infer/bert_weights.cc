#include "worker/infer/bert_weights.h"

#include <spdlog/fmt/fmt.h>

#include "worker/data/failure.h"
#include "worker/nn/families/bert.h"
#include "worker/nn/families/family.h"
#include "worker/ops/inference_attention.h"
#include "worker/ops/quantised.h"

namespace podium {
namespace {

void check_options(const Context& context, const SourceModel& model, const InferenceOptions& options) {
  const bool quantised = ops::is_quantised(product_type(options.precision));
  const auto refuse = [](const std::string& what) { throw Failure(WorkerExit::bad_spec, what); };
  if (model.quantised_to && *model.quantised_to != options.precision)
    refuse(fmt::format("{} is quantised to {} and cannot compute in {}; use the model that it was made of",
                       model.origin, to_string(*model.quantised_to), to_string(options.precision)));
  if (quantised && !model.quantised_to)
    refuse(fmt::format(
        "{} has no ranges for {}: make a quantised model of it first, with podium-worker calibrate "
        "{} --format {} --text 'corpus/*.txt' --out FOLDER",
        model.origin, to_string(options.precision), model.origin, to_string(options.precision)));
  if (model.quantised_to && options.sparse && !model.products.begin()->second.sparse())
    refuse(fmt::format("{} is not sparse; calibrate it with --sparse", model.origin));
  if (options.sparse && !can_be_sparse(model.spec))
    refuse(
        fmt::format("{}: 2:4 sparsity needs hidden and intermediate sizes of multiples of 8", model.origin));
  const ops::AttentionShape heads{.heads = model.spec.heads,
                                  .head_size = model.spec.hidden / model.spec.heads};
  if (quantised && !ops::attention_quantises(context, heads, DType::f16))
    refuse(fmt::format("{}: {} on a GPU needs heads of a multiple of 8 and at most 64 columns; these have {}",
                       model.origin, to_string(options.precision), heads.head_size));
}

class Maker {
 public:
  Maker(Context& context, const SourceModel& model, const InferenceOptions& options)
      : context_(context), model_(model), options_(options) {}

  Tensor floats(const std::string& name) const { return place(context_, model_.tensors.at(name)); }
  NormLayer norm(const std::string& name) const {
    return {floats(name + ".weight"), floats(name + ".bias"), static_cast<float>(kBertFamily.norm_epsilon)};
  }

  // A head's layer, in the type of activations.
  DenseLayer head(const std::string& weight, const std::string& bias) const {
    const LinearFormat format{.type = activation_type(options_.precision, context_)};
    return place(context_, bias, make_linear_data(model_.values(weight), model_.values(bias), format));
  }
  DenseLayer head(const std::string& name) const { return head(name + ".weight", name + ".bias"); }

  EncoderLayer encoder_layer(int index) const {
    const auto products = encoder_products(model_.spec, index);
    return {product(products[0]),
            product(products[1]),
            product(products[2]),
            product(products[3]),
            norm(name_in_layer(model_.spec, index, &FamilyNames::middle_norm)),
            norm(name_in_layer(model_.spec, index, &FamilyNames::last_norm))};
  }

 private:
  DenseLayer product(const EncoderProduct& product) const {
    if (model_.quantised_to) return place(context_, product.name, model_.products.at(product.name));
    const ProductValues values = product_values(model_, product);
    const LinearFormat format{.type = product_type(options_.precision), .sparse = options_.sparse};
    return place(context_, product.name, make_linear_data(values.weight, values.bias, format));
  }

  Context& context_;
  const SourceModel& model_;
  const InferenceOptions& options_;
};

}  // namespace

BertWeights make_bert_weights(Context& context, const SourceModel& model, const InferenceOptions& options) {
  check_options(context, model, options);
  const Maker maker(context, model, options);
  const auto table = [&](std::string_view name) { return maker.floats(std::string(name)); };
  const FamilyNames& names = kBertFamily.names;
  BertWeights weights{.spec = model.spec,
                      .product = product_type(options.precision),
                      .activation = activation_type(options.precision, context),
                      .word = table(names.word),
                      .position = table(names.position),
                      .type = table(names.type),
                      .embeddings_norm = maker.norm(std::string(names.embedding_norm))};
  for (int i = 0; i < model.spec.layers; ++i) weights.layers.push_back(maker.encoder_layer(i));
  const auto has_layer = [&](const char* name) { return model.has(std::string(name) + ".weight"); };
  if (has_layer(kBertPooler)) weights.pooler = maker.head(kBertPooler);
  if (weights.pooler && has_layer(kBertNextSentence)) weights.next_sentence = maker.head(kBertNextSentence);
  if (has_layer(kBertSpan)) weights.span = maker.head(kBertSpan);
  if (weights.pooler && has_layer(kBertClassifier)) weights.classifier = maker.head(kBertClassifier);
  if (model.has(kBertDecoderBias) && has_layer(kBertTransform))
    weights.prediction = {maker.head(kBertTransform), maker.norm(kBertTransformNorm),
                          maker.head(std::string(names.word), kBertDecoderBias)};
  return weights;
}

}  // namespace podium
