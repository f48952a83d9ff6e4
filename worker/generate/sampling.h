// Which token comes next. Pure: a draw is a function of the logits, the rule and one uniform number.
//
//   p = softmax(logits / temperature); of it the top_k likeliest, of those the fewest likeliest whose sum is
//   at least top_p of theirs (nucleus; Holtzman et al., 2020), in proportion
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podium {

struct SamplingRule {
  double temperature = 1;  // 0: the likeliest token, of equal ones the first
  int top_k = 0;           // 0: all
  double top_p = 1;
};

struct TokenWeight {
  std::int32_t token = 0;
  double weight = 0;  // in proportion to the probability
};

// The tokens that may come next, at a temperature above 0; where the rule cuts, the likeliest first and of
// equal ones the first. Throws BadData where a logit is not a number or none is finite.
std::vector<TokenWeight> token_weights(std::span<const float> logits, const SamplingRule& rule);

// `uniform` in [0, 1).
std::int32_t sample_token(std::span<const float> logits, const SamplingRule& rule, double uniform);

}  // namespace podium
