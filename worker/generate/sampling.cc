#include "worker/generate/sampling.h"

#include <algorithm>
#include <cmath>

#include "worker/input/bad_data.h"

namespace podium {
namespace {

constexpr std::size_t kFirstSorted = 64;  // nuclei are small as a rule

float highest_of(std::span<const float> logits) {
  float highest = -INFINITY;
  bool not_a_number = false;
  for (const float logit : logits) {
    not_a_number |= std::isnan(logit);
    highest = std::max(highest, logit);
  }
  if (not_a_number || !std::isfinite(highest))
    throw BadData("the model's logits are not finite: its weights are damaged, or too large for --precision");
  return highest;
}

bool before(const TokenWeight& a, const TokenWeight& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

// Sorts more and more of the likeliest until their sum reaches `share` of all, and drops the others.
void keep_nucleus(std::vector<TokenWeight>& tokens, double share) {
  double all = 0;
  for (const TokenWeight& token : tokens) all += token.weight;
  double sum = 0;
  std::size_t sorted = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == sorted) {
      sorted = std::min(tokens.size(), std::max(kFirstSorted, 4 * sorted));
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
      std::partial_sort(begin, tokens.begin() + static_cast<std::ptrdiff_t>(sorted), tokens.end(), before);
    }
    sum += tokens[i].weight;
    if (sum >= share * all) {
      tokens.resize(i + 1);
      return;
    }
  }
}

bool cuts_to_k(const SamplingRule& rule, std::size_t tokens) {
  return rule.top_k > 0 && static_cast<std::size_t>(rule.top_k) < tokens;
}

// Of all tokens, without a list of them. The last sum is `all`.
std::int32_t sample_any(std::span<const float> logits, double temperature, double uniform) {
  const double highest = highest_of(logits);
  const auto weight = [&](float logit) { return std::exp((logit - highest) / temperature); };
  double all = 0, sum = 0;
  for (const float logit : logits) all += weight(logit);
  std::size_t i = 0;
  while ((sum += weight(logits[i])) <= uniform * all) ++i;
  return static_cast<std::int32_t>(i);
}

}  // namespace

std::vector<TokenWeight> token_weights(std::span<const float> logits, const SamplingRule& rule) {
  const double highest = highest_of(logits);
  std::vector<TokenWeight> tokens(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) tokens[i] = {static_cast<std::int32_t>(i), logits[i]};
  if (cuts_to_k(rule, tokens.size())) {
    std::ranges::partial_sort(tokens, tokens.begin() + rule.top_k, before);
    tokens.resize(static_cast<std::size_t>(rule.top_k));
  }
  for (TokenWeight& token : tokens) token.weight = std::exp((token.weight - highest) / rule.temperature);
  if (rule.top_p < 1) keep_nucleus(tokens, rule.top_p);
  return tokens;
}

std::int32_t sample_token(std::span<const float> logits, const SamplingRule& rule, double uniform) {
  if (rule.temperature == 0) {
    highest_of(logits);
    return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  }
  if (rule.top_p >= 1 && !cuts_to_k(rule, logits.size()))
    return sample_any(logits, rule.temperature, uniform);
  const std::vector<TokenWeight> tokens = token_weights(logits, rule);
  double all = 0, sum = 0;
  for (const TokenWeight& token : tokens) all += token.weight;
  std::size_t i = 0;
  while ((sum += tokens[i].weight) <= uniform * all) ++i;  // the last sum is `all`
  return tokens[i].token;
}

}  // namespace podium
