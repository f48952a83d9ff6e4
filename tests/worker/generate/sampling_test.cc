// Sampling against a literal slow one, and its draws against what they should be by Pearson's chi-squared
// test.
#include "worker/generate/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/worker/data/chi_squared.h"
#include "worker/input/bad_data.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

std::vector<float> random_logits(int count, std::uint64_t stream, double scale = 2.0) {
  Random random(5, stream);
  std::vector<float> logits;
  for (int i = 0; i < count; ++i) logits.push_back(static_cast<float>(scale * random.normal()));
  return logits;
}

// Step by step as the header says: a softmax, the likeliest top_k, and tokens one by one until their share of
// what is left reaches top_p. Token to probability.
std::map<std::int32_t, double> literal(const std::vector<float>& logits, const SamplingRule& rule) {
  std::vector<std::pair<double, std::int32_t>> tokens;
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    tokens.emplace_back(std::exp(static_cast<double>(logits[i]) / rule.temperature), i);
    sum += tokens.back().first;
  }
  for (auto& token : tokens) token.first /= sum;
  std::ranges::stable_sort(tokens, std::ranges::greater(), [](const auto& token) { return token.first; });
  if (rule.top_k > 0) tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(rule.top_k)));
  double left = 0;
  for (const auto& token : tokens) left += token.first;
  std::map<std::int32_t, double> kept;
  double reached = 0;
  for (const auto& [probability, id] : tokens) {
    kept[id] = probability;
    reached += probability;
    if (reached >= rule.top_p * left) break;
  }
  for (auto& [id, probability] : kept) probability /= reached;
  return kept;
}

const std::vector<SamplingRule> kRules{{1.0, 0, 1.0}, {0.7, 0, 1.0}, {1.5, 5, 1.0},    {1.0, 0, 0.5},
                                       {1.0, 0, 0.9}, {2.0, 8, 0.8}, {0.5, 1000, 0.9}, {1.0, 1, 1.0},
                                       {1.0, 0, 0.0}, {3.0, 0, 0.99}};

TEST(Sampling, KeepsTheTokensOfTheLiteralOne) {
  for (const int count : {1, 7, 400})
    for (std::size_t i = 0; i < kRules.size(); ++i) {
      SCOPED_TRACE(testing::Message() << count << " tokens, rule " << i);
      const std::vector<float> logits = random_logits(count, i);
      const std::map<std::int32_t, double> expected = literal(logits, kRules[i]);
      const std::vector<TokenWeight> found = token_weights(logits, kRules[i]);
      ASSERT_EQ(found.size(), expected.size());
      double sum = 0;
      for (const TokenWeight& token : found) sum += token.weight;
      for (const TokenWeight& token : found) {
        ASSERT_TRUE(expected.contains(token.token));
        EXPECT_NEAR(token.weight / sum, expected.at(token.token), 1e-12);
      }
    }
}

TEST(Sampling, DrawsInProportion) {
  constexpr int kDraws = 200'000;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<float> logits = random_logits(12, 50 + i, 1.0);
    const std::map<std::int32_t, double> expected = literal(logits, kRules[i]);
    std::map<std::int32_t, double> seen;
    Random random(9, i);
    for (int draw = 0; draw < kDraws; ++draw) ++seen[sample_token(logits, kRules[i], random.uniform())];
    std::vector<double> counts, shares;
    for (const auto& [token, share] : expected) {
      counts.push_back(seen[token]);
      shares.push_back(share);
    }
    EXPECT_EQ(seen.size(), expected.size()) << "no other token was drawn";
    if (expected.size() > 1) {
      EXPECT_GT(chi_squared_p(counts, shares), 1e-3);
    }
  }
}

// The k-th and the one after it are equally likely: the first in the vocabulary stays.
TEST(Sampling, OfEqualTokensTheFirstGoesFirst) {
  const std::vector<float> logits{1, 3, 2, 3, 2, 2};
  EXPECT_EQ(sample_token(logits, {.temperature = 0}, 0.99), 1);
  const std::vector<TokenWeight> kept = token_weights(logits, {1.0, 3, 1.0});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].token, 1);
  EXPECT_EQ(kept[1].token, 3);
  EXPECT_EQ(kept[2].token, 2);
}

TEST(Sampling, EndsOfTheUniformRangeAreTokens) {
  const std::vector<float> logits = random_logits(100, 3);
  for (const SamplingRule& rule : kRules)
    for (const double uniform : {0.0, std::nextafter(1.0, 0.0)})
      EXPECT_TRUE(literal(logits, rule).contains(sample_token(logits, rule, uniform)));
}

TEST(Sampling, TakesLogitsOfAnySize) {
  const std::vector<float> logits{-3e38F, 3e38F, -INFINITY, 2.9e38F};
  for (const double temperature : {0.0, 1e-3, 1.0}) {
    EXPECT_EQ(sample_token(logits, {.temperature = temperature}, 0.999), 1);
    EXPECT_EQ(sample_token(logits, {.temperature = temperature, .top_p = 0.5}, 0.999), 1);
  }
}

TEST(Sampling, RefusesWhatIsNoNumber) {
  for (const std::vector<float>& logits :
       {std::vector<float>{1, NAN, 2}, std::vector<float>{1, INFINITY}, std::vector<float>{-INFINITY}})
    for (const double temperature : {0.0, 1.0})
      EXPECT_THROW(sample_token(logits, {.temperature = temperature}, 0.5), BadData);
}

}  // namespace
}  // namespace podium
