#include "worker/generate/generation_session.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"

namespace podium {
namespace {

// More sequences take several passes. On the CPU so few rows are multiplied one by one (ops/cpu/few_rows.h),
// which keeps them independent of each other.
constexpr std::size_t kSequencesTogether = 64;

}  // namespace

GenerationSession::GenerationSession(Context& context, LanguageWeights& weights, const CacheShape& cache)
    : pass_(context, weights, cache),
      vocabulary_(weights.spec.vocab),
      lengths_(static_cast<std::size_t>(cache.slots), 0) {}

std::optional<GenerationSession::Begun> GenerationSession::begin(std::span<const std::int32_t> prompt) {
  PODIUM_CHECK(!prompt.empty() && std::ssize(prompt) <= positions(), "a prompt fits a slot");
  const auto free = std::ranges::find(lengths_, 0);
  if (free == lengths_.end()) return std::nullopt;
  const auto slot = static_cast<int>(free - lengths_.begin());
  NewRows rows{.ids = {prompt.begin(), prompt.end()},
               .slots = std::vector<std::int32_t>(prompt.size(), slot),
               .positions = std::vector<std::int32_t>(prompt.size()),
               .predicting = {static_cast<std::int32_t>(prompt.size()) - 1}};
  std::iota(rows.positions.begin(), rows.positions.end(), 0);
  std::vector<float> logits = pass_.run(rows);
  *free = static_cast<int>(prompt.size());
  return Begun{slot, std::move(logits)};
}

std::vector<float> GenerationSession::extend(std::span<const Next> next) {
  std::vector<float> logits;
  logits.reserve(next.size() * static_cast<std::size_t>(vocabulary_));
  for (std::size_t first = 0; first < next.size(); first += kSequencesTogether) {
    NewRows rows;
    for (const auto& [slot, token] : next.subspan(first, std::min(kSequencesTogether, next.size() - first))) {
      int& length = lengths_[static_cast<std::size_t>(slot)];
      PODIUM_CHECK(length > 0 && length < positions(), "a sequence that goes on has begun, and has room");
      rows.predicting.push_back(static_cast<std::int32_t>(rows.ids.size()));
      rows.ids.push_back(token);
      rows.slots.push_back(slot);
      rows.positions.push_back(length++);
    }
    const std::vector<float> part = pass_.run(rows);
    logits.insert(logits.end(), part.begin(), part.end());
  }
  return logits;
}

void GenerationSession::end(int slot) { lengths_[static_cast<std::size_t>(slot)] = 0; }

}  // namespace podium
