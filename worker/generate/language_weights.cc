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

class LanguageMaker {
 public:
  LanguageMaker(const Context& context, SourceModel& model, DType type)
      : context_(context), model_(model), family_(family_of(model.spec)), type_(type) {}

  Tensor table(std::string_view name) {
    return name.empty() ? Tensor() : place(context_, take(std::string(name)));
  }
  NormLayer norm(const std::string& name) {
    NormLayer layer{.gamma = place(context_, take(name + ".weight")),
                    .epsilon = static_cast<float>(family_.norm_epsilon)};
    if (family_.norm == NormKind::layer) layer.beta = place(context_, take(name + ".bias"));
    return layer;
  }
  // The layers side by side, as one product.
  DenseLayer dense(const std::vector<std::string>& layers) {
    std::vector<float> weight, bias;
    std::int64_t in = 0;
    for (const std::string& layer : layers) {
      const FullTensor part = take(layer + ".weight");
      in = part.shape[1];
      append(part.values, weight);
      if (family_.biases) append(take(layer + ".bias").values, bias);
    }
    return product(layers.front(), in, weight, bias);
  }
  DenseLayer decoder() {
    if (ties_embeddings(model_.spec)) {
      const std::string name(family_.names.word);
      return product(name, model_.spec.hidden, tensor(name).values, {});
    }
    const std::string name = std::string(family_.names.decoder) + ".weight";
    return product(name, model_.spec.hidden, take(name).values, {});
  }
  DecoderLayer layer(int index) {
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
  FullTensor take(const std::string& name) {
    FullTensor taken = std::move(tensor(name));
    model_.tensors.erase(name);
    return taken;
  }
  FullTensor& tensor(const std::string& name) {
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
    DenseLayer layer = place(context_, name, data);
    layer.weight.keeps_packed = false;  // prompts are few
    return layer;
  }

  const Context& context_;
  SourceModel& model_;
  const Family& family_;
  DType type_;
};

}  // namespace

void check_language_model(const Context& context, const SourceModel& model, InferencePrecision precision) {
  const ModelSpec& spec = model.spec;
  if (traits_of(spec.family).masked)
    throw BadData(
        fmt::format("{} is a {} model, which fills masks and writes no text; see podium-worker predict",
                    model.origin, to_string(spec.family)));
  if (ops::is_quantised(product_type(precision)))
    refuse_spec(fmt::format("--precision {}: text is generated in fp32, bf16 or fp16", to_string(precision)));
  if (!context.memory.on_host() && spec.hidden / spec.heads > ops::kMaxDeviceCachedHead)
    refuse_spec(fmt::format("{}: on a GPU text is generated with heads of at most {} columns; these have {}",
                            model.origin, ops::kMaxDeviceCachedHead, spec.hidden / spec.heads));
}

LanguageWeights make_language_weights(const Context& context, SourceModel model,
                                      InferencePrecision precision) {
  check_language_model(context, model, precision);
  const DType type = product_type(precision);
  LanguageMaker maker(context, model, type);
  const FamilyNames& names = family_of(model.spec).names;
  LanguageWeights weights{.spec = model.spec, .type = type};
  weights.decoder = maker.decoder();  // before the word embeddings that it may read
  weights.word = maker.table(names.word);
  weights.position = maker.table(names.position);
  weights.last_norm = maker.norm(std::string(names.head_norm));
  for (int i = 0; i < model.spec.layers; ++i) weights.layers.push_back(maker.layer(i));
  return weights;
}

}  // namespace podium
