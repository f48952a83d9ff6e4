#include "worker/generate/generation_session.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"
#include "worker/ops/inference_linear.h"

namespace podium {
namespace {

// Rows of a prompt in a pass, so that the memory between layers does not grow with it.
constexpr std::size_t kPromptTogether = 512;

NewRows rows_of_prompt(std::span<const std::int32_t> tokens, int slot, std::size_t first) {
  NewRows rows{.ids = {tokens.begin(), tokens.end()},
               .slots = std::vector<std::int32_t>(tokens.size(), slot),
               .positions = std::vector<std::int32_t>(tokens.size())};
  std::iota(rows.positions.begin(), rows.positions.end(), static_cast<std::int32_t>(first));
  return rows;
}

}  // namespace

GenerationSession::GenerationSession(Context& context, LanguageWeights& weights, const CacheShape& cache)
    : pass_(context, weights, cache),
      vocabulary_(weights.spec.vocab),
      threads_(context.threads),
      slots_(static_cast<std::size_t>(cache.slots)),
      together_(context.memory.on_host() ? static_cast<std::size_t>(ops::kMostLoneRows) : slots_.size()) {}

std::optional<int> GenerationSession::find_free() const {
  const auto free = std::ranges::find(slots_, false, &Slot::taken);
  if (free == slots_.end()) return std::nullopt;
  return static_cast<int>(free - slots_.begin());
}

std::optional<GenerationSession::Begun> GenerationSession::begin(std::span<const std::int32_t> prompt) {
  PODIUM_CHECK(!prompt.empty() && std::ssize(prompt) <= positions(), "a prompt fits a slot");
  const std::optional<int> slot = find_free();
  if (!slot) return std::nullopt;
  at(*slot).length = 0;
  std::vector<float> logits;
  for (std::size_t first = 0; first < prompt.size(); first += kPromptTogether) {
    const auto part = prompt.subspan(first, std::min(kPromptTogether, prompt.size() - first));
    NewRows rows = rows_of_prompt(part, *slot, first);
    if (first + part.size() == prompt.size()) rows.predicting = {static_cast<std::int32_t>(part.size()) - 1};
    logits = pass_.run(rows);
  }
  at(*slot) = {static_cast<int>(prompt.size()), true};
  return Begun{*slot, std::move(logits)};
}

std::optional<int> GenerationSession::begin_as(int slot, int length) {
  PODIUM_CHECK(length > 0 && length <= at(slot).length, "a slot has the tokens that are copied");
  const std::optional<int> free = at(slot).taken ? find_free() : slot;
  if (!free) return std::nullopt;
  if (*free != slot) pass_.copy_slot(slot, *free, length);
  at(*free) = {length, true};
  return free;
}

std::vector<float> GenerationSession::extend(std::span<const Next> next) {
  std::vector<float> logits;
  for (std::size_t first = 0; first < next.size(); first += together_) {
    NewRows rows;
    for (const auto& [slot, token] : next.subspan(first, std::min(together_, next.size() - first))) {
      PODIUM_CHECK(at(slot).taken && length(slot) < positions(),
                   "a sequence that goes on has begun, and has room");
      rows.predicting.push_back(static_cast<std::int32_t>(rows.ids.size()));
      rows.ids.push_back(token);
      rows.slots.push_back(slot);
      rows.positions.push_back(length(slot));
    }
    std::vector<float> part = pass_.run(rows);
    if (logits.empty())
      logits = std::move(part);
    else
      logits.insert(logits.end(), part.begin(), part.end());
  }
  for (const Next& one : next) ++at(one.slot).length;  // where no pass failed
  return logits;
}

}  // namespace podium
