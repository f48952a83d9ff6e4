#include "worker/serve/bert_passes.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "common/base/logging.h"
#include "worker/infer/finite_results.h"

namespace podium {
namespace {

constexpr std::int64_t kPaddingShare = 4;  // one in so many tokens

// How many sequences of `order`, which begins with the longest, can be padded to it.
std::size_t like_the_longest(std::span<const int> lengths, std::span<const std::size_t> order) {
  const std::int64_t longest = lengths[order.front()];
  std::int64_t padded = 0, padding = 0;
  std::size_t count = 0;
  for (const std::size_t place : order) {
    padded += longest;
    padding += longest - lengths[place];
    if (padding * kPaddingShare > padded) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<std::vector<std::size_t>> groups_by_length(std::span<const int> lengths) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t place) { return lengths[place]; });
  std::vector<std::vector<std::size_t>> groups;
  for (std::span<const std::size_t> left = order; !left.empty();) {
    const auto group = left.first(std::bit_floor(like_the_longest(lengths, left)));
    groups.emplace_back(group.begin(), group.end());
    left = left.subspan(group.size());
  }
  return groups;
}

std::vector<SequenceResult> results_or_failures(std::size_t sequences,
                                                const std::function<std::vector<SequenceResult>()>& compute) {
  try {
    return compute();
  } catch (const std::exception& error) {
    spdlog::error("{} sequences could not be computed: {}", sequences, error.what());
    return std::vector<SequenceResult>(sequences, {.failed = true});
  }
}

void BertPasses::compute(HeadPass pass, std::span<const TextSequence> sequences, std::span<const int> tops,
                         const GiveResult& give) {
  std::vector<int> lengths;
  for (const TextSequence& sequence : sequences) lengths.push_back(sequence.length());
  for (const std::vector<std::size_t>& group : groups_by_length(lengths)) {
    std::vector<TextSequence> together;
    std::vector<int> tops_of_group;
    for (const std::size_t place : group) {
      together.push_back(sequences[place]);
      tops_of_group.push_back(tops[place]);
    }
    std::vector<SequenceResult> found =
        results_or_failures(together.size(), [&] { return compute_padded(pass, together, tops_of_group); });
    for (std::size_t i = 0; i < group.size(); ++i) give(group[i], std::move(found[i]));
  }
}

std::vector<SequenceResult> BertPasses::compute_padded(HeadPass pass, std::span<const TextSequence> sequences,
                                                       std::span<const int> tops) {
  std::vector<SequenceResult> results(sequences.size());
  if (pass == HeadPass::text) {
    std::vector<TextResult> texts = text_.run(sequences, tops);
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].failed = !texts[i].finite;
      results[i].text = std::move(texts[i]);
    }
    return results;
  }
  std::vector<std::vector<float>> scores =
      pass == HeadPass::span ? heads_.span_scores(sequences) : heads_.class_logits(sequences);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].failed = !all_finite(scores[i]);
    results[i].scores = std::move(scores[i]);
  }
  return results;
}

}  // namespace podium
