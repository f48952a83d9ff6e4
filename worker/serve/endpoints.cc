#include <algorithm>
#include <array>

#include "worker/serve/endpoint.h"

namespace podium {
namespace {

bool fills_masks(const BertWeights& weights) { return weights.prediction || weights.next_sentence; }
bool embeds(const BertWeights& /*weights*/) { return true; }
bool answers_questions(const BertWeights& weights) { return weights.span.has_value(); }

constexpr std::array kEndpoints{
    Endpoint{"fill-mask", "predicts masked tokens or next sentences", fills_masks, prepare_fill_mask},
    Endpoint{"embed", "embeds texts", embeds, prepare_embed},
    Endpoint{"answer", "answers questions", answers_questions, prepare_answer},
};

}  // namespace

std::span<const Endpoint> endpoints() { return kEndpoints; }

const Endpoint* find_endpoint(std::string_view name) {
  const auto found = std::ranges::find(kEndpoints, name, &Endpoint::name);
  return found == kEndpoints.end() ? nullptr : &*found;
}

}  // namespace podium
