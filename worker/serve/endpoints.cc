#include <algorithm>
#include <array>

#include "worker/serve/endpoint.h"

namespace podium {
namespace {

bool fills_masks(const LoadedModel& model) {
  return model.bert && (model.bert->weights.prediction || model.bert->weights.next_sentence);
}
bool embeds(const LoadedModel& model) { return model.bert.has_value(); }
bool answers_questions(const LoadedModel& model) { return model.bert && model.bert->weights.span; }
bool classifies(const LoadedModel& model) { return model.bert && model.bert->weights.classifier; }
bool generates(const LoadedModel& model) { return model.language.has_value(); }

constexpr std::array kEndpoints{
    Endpoint{"fill-mask", fills_masks, prepare_fill_mask},
    Endpoint{"embed", embeds, prepare_embed},
    Endpoint{"answer", answers_questions, prepare_answer},
    Endpoint{"classify", classifies, prepare_classify},
    Endpoint{"generate", generates, nullptr},
};

}  // namespace

std::span<const Endpoint> endpoints() { return kEndpoints; }

const Endpoint* find_endpoint(std::string_view name) {
  const auto found = std::ranges::find(kEndpoints, name, &Endpoint::name);
  return found == kEndpoints.end() ? nullptr : &*found;
}

}  // namespace podium
