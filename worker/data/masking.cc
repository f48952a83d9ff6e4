#include "worker/data/masking.h"

#include <algorithm>
#include <cmath>

#include "common/model/flops.h"

namespace podium {
namespace {

constexpr double kMaskShare = 0.8;
constexpr double kKeepShare = 0.1;

// Positions that are chosen together: single tokens, or the pieces of one word.
using Group = std::vector<std::int32_t>;

std::vector<Group> candidates(const std::vector<std::int32_t>& ids, bool whole_word,
                              const Vocabulary& vocabulary) {
  std::vector<Group> groups;
  const SpecialTokens& special = vocabulary.special();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == special.classify || ids[i] == special.separator) continue;
    const bool joins = whole_word && vocabulary.continues_word(ids[i]) && !groups.empty() &&
                       groups.back().back() + 1 == static_cast<std::int32_t>(i);
    if (!joins) groups.emplace_back();
    groups.back().push_back(static_cast<std::int32_t>(i));
  }
  return groups;
}

// Fisher and Yates.
void shuffle(std::vector<Group>& groups, Random& random) {
  for (std::size_t i = groups.size(); i > 1; --i)
    std::swap(groups[i - 1], groups[random.below(static_cast<std::uint32_t>(i))]);
}

std::int32_t corrupted(std::int32_t id, const Vocabulary& vocabulary, Random& random) {
  const double draw = random.uniform();
  if (draw < kMaskShare) return vocabulary.special().mask;
  if (draw < kMaskShare + kKeepShare) return id;
  return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocabulary.size())));
}

}  // namespace

std::int32_t default_max_predictions(std::int32_t sequence_length) {
  return default_predictions(sequence_length);
}

Masked mask_tokens(std::vector<std::int32_t>& ids, const MaskingRule& rule, const Vocabulary& vocabulary,
                   Random& random) {
  const auto share =
      static_cast<std::int32_t>(std::lround(rule.probability * static_cast<double>(ids.size())));
  const auto wanted = static_cast<std::size_t>(std::min(rule.max_predictions, std::max(1, share)));
  std::vector<Group> groups = candidates(ids, rule.whole_word, vocabulary);
  shuffle(groups, random);

  Masked masked;
  for (const Group& group : groups) {
    if (masked.positions.size() + group.size() > wanted) continue;
    masked.positions.insert(masked.positions.end(), group.begin(), group.end());
    if (masked.positions.size() == wanted) break;
  }
  std::sort(masked.positions.begin(), masked.positions.end());
  for (const std::int32_t position : masked.positions) {
    std::int32_t& id = ids[static_cast<std::size_t>(position)];
    masked.labels.push_back(id);
    id = corrupted(id, vocabulary, random);
  }
  return masked;
}

}  // namespace podium
