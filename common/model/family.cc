#include "common/model/family.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace podium {
namespace {

constexpr std::array kBertTasks{TrainingTask::pretrain, TrainingTask::squad, TrainingTask::classify};
constexpr std::array kLanguageTasks{TrainingTask::lm};

constexpr std::array<FamilyTraits, 3> kFamilies{
    {{.family = ModelFamily::bert,
      .tasks = kBertTasks,
      .wordpiece = true,
      .max_positions = 512,
      .dropout = 0.1,
      .adamw_epsilon = 1e-6,  // of BERT's recipes
      .masked = true,
      .rotary = false,
      .gated = false,
      .head_transform = true,
      .sentence_classes = 2},
     {.family = ModelFamily::gpt,
      .tasks = kLanguageTasks,
      .wordpiece = false,
      .max_positions = 1024,
      .dropout = 0.1,
      .adamw_epsilon = 1e-8,  // as apex's FusedAdam in Megatron-LM
      .masked = false,
      .rotary = false,
      .gated = false,
      .head_transform = false,
      .sentence_classes = 0},
     {.family = ModelFamily::llama,
      .tasks = kLanguageTasks,
      .wordpiece = false,
      .max_positions = 4096,
      .dropout = 0,
      .adamw_epsilon = 1e-8,
      .masked = false,
      .rotary = true,
      .gated = true,
      .head_transform = false,
      .sentence_classes = 0}}};

}  // namespace

bool FamilyTraits::trains(std::string_view task) const {
  return std::ranges::any_of(tasks, [task](TrainingTask known) { return to_string(known) == task; });
}

std::span<const FamilyTraits> families() { return kFamilies; }

const FamilyTraits& traits_of(ModelFamily family) {
  const auto* const found = std::ranges::find(kFamilies, family, &FamilyTraits::family);
  if (found == kFamilies.end()) throw std::invalid_argument("a family without traits");
  return *found;
}

const FamilyTraits* find_family(std::string_view name) {
  const auto* const found = std::ranges::find(kFamilies, name, &FamilyTraits::name);
  return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace podium
