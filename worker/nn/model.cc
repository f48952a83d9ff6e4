#include "worker/nn/model.h"

#include <spdlog/fmt/fmt.h>

#include <stdexcept>

#include "common/model/family.h"
#include "common/model/layout_rules.h"
#include "worker/nn/transformer_model.h"

namespace podium {
namespace {

DType compute_type(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return DType::f32;
    case Precision::bf16:
      return DType::bf16;
    case Precision::fp16:
      return DType::f16;
  }
  throw std::invalid_argument("unknown precision");
}

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument("model: " + message);
}

void require_multiple(const char* what, int value, int of, const std::string& why) {
  require(value % of == 0, fmt::format("{} {} must be a multiple of {}: {}", what, value, of, why));
}

void check_shape(const ModelSpec& spec) {
  require(spec.layers > 0 && spec.hidden > 0 && spec.heads > 0 && spec.intermediate > 0 && spec.vocab > 0 &&
              spec.max_positions > 0,
          "layers, hidden, heads, intermediate, vocab and max_positions must be positive");
  require_multiple("hidden", spec.hidden, spec.heads, "heads share it equally");
  if (!traits_of(spec.family).rotary) return;
  require_multiple("hidden", spec.hidden, kHeadMultiple * spec.heads,
                   fmt::format("positions turn heads of a multiple of {} columns", kHeadMultiple));
  require_multiple("heads", spec.heads, spec.key_heads(), "groups share heads of keys and values equally");
}

void check_fp8(const ModelOptions& options) {
  require(!options.fp8 || options.precision != Precision::fp32,
          "fp8 computes in 8 bits beside 16: the precision must be bf16 or fp16");
}

void check_quantise(const ModelSpec& spec, const ModelOptions& options) {
  if (!options.quantise) return;
  require(spec.family == ModelFamily::bert, "quantise is for bert, which alone has inference in 8 bits");
  require(!options.fp8, "quantise and fp8 round the same inputs with different scales: choose one");
}

void check_layout(const ModelSpec& spec, const ModelOptions& options, const ParallelLayout& layout) {
  const LayoutRules rules{layout.tensor, layout.pipeline, options.interleave};
  require(rules.devices_unit() >= 1 && rules.layers_unit() >= 1,
          "tensor, pipeline and interleave must be positive");
  const std::string why = fmt::format("parallel.tensor {} shares it equally", layout.tensor);
  require_multiple("heads", spec.heads, rules.heads_unit(), why);
  require_multiple("key_value_heads", spec.key_heads(), rules.heads_unit(), why);
  require_multiple("intermediate", spec.intermediate, rules.heads_unit(), why);
  require(spec.vocab >= layout.tensor, "vocab " + std::to_string(spec.vocab) + " must be at least " +
                                           std::to_string(layout.tensor) + ", parallel.tensor");
  require_multiple("hidden", spec.hidden, rules.columns_unit(),
                   fmt::format("each of {} tensor ranks computes a multiple of {} columns", layout.tensor,
                               kColumnMultiple));
  require_multiple(
      "layers", spec.layers, rules.layers_unit(),
      fmt::format(
          "parallel.pipeline {} x interleave {} shares them equally; a checkpoint goes on with any layout",
          layout.pipeline, options.interleave));
  require(options.recompute_layers >= 0 && options.recompute_layers <= spec.layers / rules.layers_unit(),
          fmt::format("recompute_layers {} must lie between 0 and {}, the layers of a chunk",
                      options.recompute_layers, spec.layers / rules.layers_unit()));
  if (options.fp8)
    require_multiple("intermediate", spec.intermediate, rules.columns_unit(),
                     fmt::format("fp8 multiplies vectors of {} on each of {} tensor ranks", kColumnMultiple,
                                 layout.tensor));
}

}  // namespace

std::unique_ptr<Model> make_model(Context& context, const ModelSpec& spec, const ModelOptions& options,
                                  const ParallelGroups& groups) {
  check_shape(spec);
  check_layout(spec, options, groups.layout);
  check_fp8(options);
  check_quantise(spec, options);
  return std::make_unique<TransformerModel>(context, spec, options, compute_type(options.precision), groups);
}

}  // namespace podium
