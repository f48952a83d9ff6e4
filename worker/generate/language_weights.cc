#include "worker/generate/language_weights.h"

#include <spdlog/fmt/fmt.h>

#include "common/model/family.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
#include "worker/ops/cached_attention.h"
#include "worker/ops/quantised.h"

namespace podium {
namespace {

void check_model(const Context& context, const SourceModel& model, InferencePrecision precision) {
  const ModelSpec& spec = model.spec;
  if (traits_of(spec.family).masked)
    throw BadData(
        fmt::format("{} is a {} model, which fills masks and writes no text; see podium-worker infer",
                    model.origin, to_string(spec.family)));
  if (ops::is_quantised(product_type(precision)))
    refuse_spec(fmt::format("--precision {}: text is generated in fp32, bf16 or fp16", to_string(precision)));
  if (!context.memory.on_host() && spec.hidden / spec.heads > ops::kMaxDeviceCachedHead)
    refuse_spec(fmt::format("{}: on a GPU text is generated with heads of at most {} columns; these have {}",
                            model.origin, ops::kMaxDeviceCachedHead, spec.hidden / spec.heads));
}

class LanguageMaker {
 public:
  LanguageMaker(const Context& context, const SourceModel& model, DType type)
      : context_(context), model_(model), family_(family_of(model.spec)), type_(type) {}

  Tensor table(std::string_view name) const {
    return name.empty() ? Tensor() : place(context_, tensor(std::string(name)));
  }
  NormLayer norm(const std::string& name) const {
    NormLayer layer{.gamma = place(context_, tensor(name + ".weight")),
                    .epsilon = static_cast<float>(family_.norm_epsilon)};
    if (family_.norm == NormKind::layer) layer.beta = place(context_, tensor(name + ".bias"));
    return layer;
  }
  // The layers side by side, as one product.
  DenseLayer dense(const std::vector<std::string>& layers) const {
    std::vector<float> weight, bias;
    for (const std::string& layer : layers) {
      append(tensor(layer + ".weight").values, weight);
      if (family_.biases) append(tensor(layer + ".bias").values, bias);
    }
    return product(layers.front(), tensor(layers.front() + ".weight").shape[1], weight, bias);
  }
  DenseLayer decoder() const {
    const std::string name = ties_embeddings(model_.spec) ? std::string(family_.names.word)
                                                          : std::string(family_.names.decoder) + ".weight";
    return product(name, model_.spec.hidden, tensor(name).values, {});
  }
  DecoderLayer layer(int index) const {
    const auto name = [&](std::string_view FamilyNames::*part) {
      return name_in_layer(model_.spec, index, part);
    };
    std::vector<std::string> expand{name(&FamilyNames::expand)};
    if (!family_.names.gate.empty()) expand.insert(expand.begin(), name(&FamilyNames::gate));
    return {.first_norm = norm(name(&FamilyNames::first_norm)),
            .query_key_value =
                dense({name(&FamilyNames::query), name(&FamilyNames::key), name(&FamilyNames::value)}),
            .attention_output = dense({name(&FamilyNames::attention_output)}),
            .middle_norm = norm(name(&FamilyNames::middle_norm)),
            .expand = dense(expand),
            .contract = dense({name(&FamilyNames::contract)})};
  }

 private:
  static void append(const std::vector<float>& from, std::vector<float>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }
  const FullTensor& tensor(const std::string& name) const {
    const auto found = model_.tensors.find(name);
    if (found == model_.tensors.end())
      throw BadData(model_.origin + " has no " + name + ": without it there is no text to generate");
    return found->second;
  }
  // Without a bias where `bias` is empty.
  DenseLayer product(const std::string& name, std::int64_t in, const std::vector<float>& weight,
                     const std::vector<float>& bias) const {
    const std::size_t out = weight.size() / static_cast<std::size_t>(in);
    LinearData data =
        make_linear_data(weight, bias.empty() ? std::vector<float>(out, 0.0F) : bias, {.type = type_});
    if (bias.empty()) data.bias.clear();
    return place(context_, name, data);
  }

  const Context& context_;
  const SourceModel& model_;
  const Family& family_;
  DType type_;
};

}  // namespace

LanguageWeights make_language_weights(const Context& context, const SourceModel& model,
                                      InferencePrecision precision) {
  check_model(context, model, precision);
  const DType type = product_type(precision);
  const LanguageMaker maker(context, model, type);
  const FamilyNames& names = family_of(model.spec).names;
  LanguageWeights weights{.spec = model.spec,
                          .type = type,
                          .word = maker.table(names.word),
                          .position = maker.table(names.position),
                          .last_norm = maker.norm(std::string(names.head_norm)),
                          .decoder = maker.decoder()};
  for (int i = 0; i < model.spec.layers; ++i) weights.layers.push_back(maker.layer(i));
  return weights;
}

}  // namespace podium
