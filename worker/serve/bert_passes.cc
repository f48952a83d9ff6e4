#include "worker/serve/bert_passes.h"

#include <algorithm>
#include <numeric>

namespace podium {
namespace {

constexpr std::int64_t kPaddingShare = 4;  // one in so many tokens

}  // namespace

std::vector<std::vector<std::size_t>> groups_by_length(std::span<const int> lengths) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t place) { return lengths[place]; });
  std::vector<std::vector<std::size_t>> groups;
  std::int64_t longest = 0, tokens = 0;
  for (const std::size_t place : order) {
    tokens += lengths[place];
    const std::int64_t padded = groups.empty() ? 0 : longest * (std::ssize(groups.back()) + 1);
    if (groups.empty() || (padded - tokens) * kPaddingShare > padded) {
      groups.emplace_back();
      longest = tokens = lengths[place];
    }
    groups.back().push_back(place);
  }
  return groups;
}

std::vector<SequenceResult> BertPasses::compute(HeadPass pass, std::span<const TextSequence> sequences,
                                                int top) {
  std::vector<int> lengths;
  for (const TextSequence& sequence : sequences) lengths.push_back(sequence.length());
  std::vector<SequenceResult> results(sequences.size());
  for (const std::vector<std::size_t>& group : groups_by_length(lengths)) {
    std::vector<TextSequence> together;
    for (const std::size_t place : group) together.push_back(sequences[place]);
    std::vector<SequenceResult> found = compute_padded(pass, together, top);
    for (std::size_t i = 0; i < group.size(); ++i) results[group[i]] = std::move(found[i]);
  }
  return results;
}

std::vector<SequenceResult> BertPasses::compute_padded(HeadPass pass, std::span<const TextSequence> sequences,
                                                       int top) {
  std::vector<SequenceResult> results(sequences.size());
  if (pass == HeadPass::span) {
    std::vector<std::vector<float>> scores = span_.run(sequences);
    for (std::size_t i = 0; i < results.size(); ++i) results[i].scores = std::move(scores[i]);
  } else {
    std::vector<TextResult> texts = text_.run(sequences, top);
    for (std::size_t i = 0; i < results.size(); ++i) results[i].text = std::move(texts[i]);
  }
  return results;
}

}  // namespace podium
