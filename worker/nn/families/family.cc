#include "worker/nn/families/family.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

constexpr const Family* kFamilies[] = {&kBertFamily, &kGptFamily, &kLlamaFamily};

}  // namespace

const TaskHead* Family::find_task_head(TrainingTask task) const {
  const auto found = std::ranges::find(task_heads, task, &TaskHead::task);
  return found == task_heads.end() ? nullptr : &*found;
}

double Family::residual_deviation(const ModelSpec& spec) const {
  return scaled_residuals ? 1.0 / std::sqrt(2.0 * spec.layers) : 1.0;
}

const Family& family_of(ModelFamily family) {
  const auto* const found = std::ranges::find(kFamilies, family, &Family::family);
  if (found == std::end(kFamilies)) throw std::invalid_argument("unknown model family");
  return **found;
}

bool ties_embeddings(const ModelSpec& spec) {
  return family_of(spec).names.decoder.empty() || spec.tie_embeddings;
}

std::string name_in_layer(const ModelSpec& spec, int layer, std::string_view part) {
  return std::string(family_of(spec).names.layers) + std::to_string(layer) + "." + std::string(part);
}

const Family* find_hugging_face_family(std::string_view model_type) {
  const auto* const found = std::ranges::find(
      kFamilies, model_type, [](const Family* family) { return family->hugging_face.model_type; });
  return found == std::end(kFamilies) ? nullptr : *found;
}

HeadPlan pretraining_head(ModelFamily family) { return family_of(family).pretraining_head(); }

}  // namespace podium
