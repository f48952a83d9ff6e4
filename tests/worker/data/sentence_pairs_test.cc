#include "worker/data/sentence_pairs.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/worker/data/corpus_fixture.h"

namespace podium {
namespace {

constexpr std::int32_t kBudget = 61;

TEST(SentencePairs, EverySentenceOpensOrContinuesASpanAndNoneIsLost) {
  const MadeUpCorpus made;
  Random random(1, 0);
  std::set<std::int64_t> used;
  for (const PairSpan& span : plan_pairs(made.corpus, kBudget, 0.1, random)) {
    ASSERT_LT(span.begin, span.middle);
    ASSERT_LE(span.middle, span.end);
    ASSERT_LE(made.corpus.first_sentence(span.document), span.begin);
    ASSERT_LE(span.end, made.corpus.end_sentence(span.document));
    ASSERT_TRUE(span.random_next || span.middle < span.end) << "a true pair needs a B";
    for (std::int64_t i = span.begin; i < (span.random_next ? span.middle : span.end); ++i)
      EXPECT_TRUE(used.insert(i).second) << "sentence " << i << " is in two spans";
  }
  EXPECT_EQ(static_cast<std::int64_t>(used.size()), made.corpus.sentences());
}

TEST(SentencePairs, ThePlanIsAFunctionOfTheSeed) {
  const MadeUpCorpus made;
  Random first(5, 2);
  Random again(5, 2);
  Random other(6, 2);
  const auto plan = plan_pairs(made.corpus, kBudget, 0.1, first);
  EXPECT_EQ(plan, plan_pairs(made.corpus, kBudget, 0.1, again));
  EXPECT_NE(plan, plan_pairs(made.corpus, kBudget, 0.1, other));
}

TEST(SentencePairs, TargetsAndRandomNextHaveTheRecipesShares) {
  const MadeUpCorpus made(4000);
  Random random(1, 0);
  int spans = 0;
  int shortened = 0;
  int choices = 0;
  int random_next = 0;
  for (const PairSpan& span : plan_pairs(made.corpus, kBudget, 0.1, random)) {
    ++spans;
    shortened += span.target < kBudget;
    if (span.end - span.begin == 1) continue;  // always random
    ++choices;
    random_next += span.random_next;
  }
  EXPECT_NEAR(static_cast<double>(shortened) / spans, 0.1, 0.02);
  EXPECT_NEAR(static_cast<double>(random_next) / choices, 0.5, 0.02);
}

TEST(SentencePairs, PairsFitTheBudgetAndATrueNextFollows) {
  const MadeUpCorpus made;
  Random random(1, 0);
  for (const PairSpan& span : plan_pairs(made.corpus, kBudget, 0.1, random)) {
    const TokenPair pair = draw_pair(made.corpus, span, kBudget, random);
    ASSERT_FALSE(pair.a.empty());
    ASSERT_FALSE(pair.b.empty());
    ASSERT_LE(pair.a.size() + pair.b.size(), static_cast<std::size_t>(kBudget));
    std::vector<std::int32_t> whole;
    for (std::int64_t i = span.begin; i < span.end; ++i) made.corpus.append_sentence(i, whole);
    if (span.random_next || whole.size() > static_cast<std::size_t>(kBudget)) continue;
    std::vector<std::int32_t> joined = pair.a;
    joined.insert(joined.end(), pair.b.begin(), pair.b.end());
    EXPECT_EQ(joined, whole);
  }
}

// As create_pretraining_data cuts, token by token, which took minutes for an article of one line.
void truncate_one_by_one(TokenPair& pair, std::size_t budget, Random& random) {
  while (pair.a.size() + pair.b.size() > budget) {
    std::vector<std::int32_t>& longer = pair.a.size() > pair.b.size() ? pair.a : pair.b;
    if (random.below(2) == 0)
      longer.erase(longer.begin());
    else
      longer.pop_back();
  }
}

TEST(SentencePairs, LongSegmentsAreCutAsTokenByToken) {
  MadeUpCorpus made;
  std::string text;
  for (int sentence = 0; sentence < 40; ++sentence) {
    for (int word = 0; word <= sentence * sentence; ++word)
      text += "w" + std::to_string((word + sentence) % 100) + " ";
    text += "\n";
  }
  const Corpus corpus = made.read(text);
  for (std::uint64_t i = 0; i + 1 < 40; ++i) {
    const auto begin = static_cast<std::int64_t>(i);
    const PairSpan span{0, begin, begin + 1, std::min<std::int64_t>(begin + 3, 40), kBudget, false};
    TokenPair expected;
    corpus.append_sentence(begin, expected.a);
    for (std::int64_t sentence = span.middle; sentence < span.end; ++sentence)
      corpus.append_sentence(sentence, expected.b);
    Random random(3, i);
    Random same_draws(3, i);
    truncate_one_by_one(expected, kBudget, same_draws);
    const TokenPair pair = draw_pair(corpus, span, kBudget, random);
    EXPECT_EQ(pair.a, expected.a) << i;
    EXPECT_EQ(pair.b, expected.b) << i;
    EXPECT_EQ(random.below(1 << 30), same_draws.below(1 << 30)) << "as many draws";
  }
}

TEST(SentencePairs, ARandomNextComesFromAnotherDocument) {
  MadeUpCorpus made;
  const Corpus corpus = made.read("w1 w1\nw1\n\nw2\nw2 w2\n\nw3\n");
  const std::int32_t own = *made.tokenizer.vocabulary().find("w1");
  const PairSpan span{0, 0, 1, 2, kBudget, true};
  std::set<std::int32_t> seen;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Random random(9, i);
    const TokenPair pair = draw_pair(corpus, span, kBudget, random);
    seen.insert(pair.b.begin(), pair.b.end());
  }
  EXPECT_EQ(seen.count(own), 0u);
  EXPECT_EQ(seen.size(), 2u) << "both other documents are drawn";
}

}  // namespace
}  // namespace podium
