#include "worker/infer/calibration.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/base/check.h"
#include "common/model/shape_differences.h"
#include "worker/formats/hugging_face.h"
#include "worker/infer/finite_results.h"
#include "worker/infer/quantised_folder.h"
#include "worker/input/bad_data.h"
#include "worker/nn/layer_products.h"
#include "worker/tensor/downloaded.h"

namespace podium {
namespace {

using Batch = std::span<const MaskedSequence>;

void for_each_batch(Batch text, int size,
                    const std::function<void(Batch, std::span<const TextSequence>)>& visit) {
  const auto most = static_cast<std::size_t>(size);
  for (std::size_t begin = 0; begin < text.size(); begin += most) {
    const Batch part = text.subspan(begin, std::min(most, text.size() - begin));
    std::vector<TextSequence> sequences;
    for (const MaskedSequence& masked : part) sequences.push_back(masked.sequence);
    visit(part, sequences);
  }
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Counts and squares over batches.
struct Comparison {
  std::int64_t masks = 0, same = 0, right_before = 0, right_after = 0;
  double difference = 0, size = 0;

  void add(const MaskedSequence& text, const TextResult& before, const TextResult& after) {
    for (std::size_t i = 0; i < before.mean.size(); ++i) {
      difference += std::pow(static_cast<double>(after.mean[i]) - before.mean[i], 2);
      size += std::pow(static_cast<double>(before.mean[i]), 2);
    }
    for (std::size_t i = 0; i < before.masks.size(); ++i) {
      const std::int32_t first = before.masks[i].front().token, second = after.masks[i].front().token;
      ++masks;
      same += first == second ? 1 : 0;
      right_before += first == text.originals[i] ? 1 : 0;
      right_after += second == text.originals[i] ? 1 : 0;
    }
  }
};

// Adds what products read to their ranges.
ProductObserver observer_of(const Context& context, InputRanges& ranges) {
  return [&](const std::string& product, ConstTensorView input) {
    ranges[product].add(downloaded(context, input));
  };
}

// `range_of`: of a product's inputs.
SourceModel model_with_ranges(const SourceModel& model, InferencePrecision precision, bool sparse,
                              const std::function<float(const std::string&)>& range_of) {
  PODIUM_CHECK(!model.quantised_to, "a model is quantised once");
  SourceModel made{.origin = model.origin,
                   .spec = model.spec,
                   .head = model.head,
                   .tokenizer = model.tokenizer,
                   .tensors = model.tensors,
                   .quantised_to = precision};
  const DType type = product_type(precision);
  for (int layer = 0; layer < model.spec.layers; ++layer) {
    for (const EncoderProduct& product : encoder_products(model.spec, layer)) {
      const ProductValues values = product_values(model, product);
      const float range = range_of(product.name);
      if (!(range > 0) || !std::isfinite(range))
        throw BadData(
            fmt::format("{}: the inputs of {} are all zero, or not finite, so that there is no range to "
                        "calibrate by; give other text, or more of it",
                        model.origin, product.name));
      const float scale = scale_for(type, range);
      made.products[product.name] = make_linear_data(values.weight, values.bias,
                                                     {.type = type, .sparse = sparse, .input_scale = scale});
      for (const std::string& name : product.layers) {
        made.tensors.erase(name + ".weight");
        made.tensors.erase(name + ".bias");
      }
    }
  }
  return made;
}

}  // namespace

InputRanges observe_inputs(Context& context, TextInference& inference, Batch text, int batch) {
  InputRanges ranges;
  for_each_batch(text, batch, [&](Batch, std::span<const TextSequence> sequences) {
    inference.run(sequences, 1, observer_of(context, ranges));
  });
  return ranges;
}

InputRanges observe_inputs(Context& context, BertSession& session) {
  InputRanges ranges;
  session.run(observer_of(context, ranges));
  return ranges;
}

SourceModel quantise_model(const SourceModel& model, const InputRanges& ranges,
                           const QuantisationChoice& choice) {
  return model_with_ranges(model, choice.precision, choice.sparse, [&](const std::string& product) {
    return ranges.at(product).percentile(choice.percentile);
  });
}

QuantisedInputs trained_inputs(const SourceModel& model) {
  return model.checkpoint ? model.checkpoint->state.quantised : QuantisedInputs{};
}

SourceModel quantise_trained(const SourceModel& model, bool sparse) {
  const QuantisedInputs inputs = trained_inputs(model);
  const InferencePrecision precision = inference_precision_from(to_string(inputs.format));
  return model_with_ranges(model, precision, sparse, [&](const std::string& product) {
    const auto found = inputs.ranges.find(product);
    if (found == inputs.ranges.end())
      throw BadData(model.origin + " has no range of the inputs of " + product +
                    "; calibrate it with --text");
    return found->second;
  });
}

std::vector<float> calibrated_ranges(const std::filesystem::path& folder, const ModelSpec& model,
                                     QuantiseFormat format) {
  if (!std::filesystem::exists(folder / kQuantisationFile))
    throw BadData(fmt::format("{} has no {}: name a folder that podium-worker calibrate has made",
                              folder.string(), kQuantisationFile));
  const SourceModel calibrated = read_quantised_folder(folder);
  if (const auto differences = shape_differences(calibrated.spec, model); !differences.empty())
    throw BadData(folder.string() + " is of another model: " + describe(differences));
  const InferencePrecision wanted = inference_precision_from(std::string(to_string(format)));
  if (wanted != *calibrated.quantised_to)
    throw BadData(fmt::format(
        "{} is calibrated to {} and training.quantise.format is {}: calibrate it with "
        "--format {}, or write the other format",
        folder.string(), to_string(*calibrated.quantised_to), to_string(format), to_string(format)));
  const DType type = product_type(wanted);
  std::vector<float> ranges;
  for (int product = 0; product < product_count(model); ++product)
    ranges.push_back(calibrated.products.at(product_name(model, product)).input_scale /
                     scale_for(type, 1.0F));
  return ranges;
}

Agreement compare_models(TextInference& before, TextInference& after, Batch text, int batch) {
  Comparison sums;
  for_each_batch(text, batch, [&](Batch part, std::span<const TextSequence> sequences) {
    const std::vector<TextResult> first = before.run(sequences, 1), second = after.run(sequences, 1);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!first[i].finite || !second[i].finite) refuse_not_finite("a text of the comparison");
      sums.add(part[i], first[i], second[i]);
    }
  });
  return {sums.masks, share(sums.same, sums.masks), share(sums.right_before, sums.masks),
          share(sums.right_after, sums.masks), std::sqrt(sums.difference / sums.size)};
}

}  // namespace podium
