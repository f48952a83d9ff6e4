// Samples against the published recipes, by chi-squared tests on a million draws or more of fixed seeds:
// BERT's masks, pairs and short sequences (Devlin et al., 2018, create_pretraining_data), GPT's windows in an
// order of each epoch's own.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/worker/data/chi_squared.h"
#include "tests/worker/data/corpus_fixture.h"
#include "tests/worker/data/megatron_files.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/data/language_dataset.h"
#include "worker/data/masking.h"
#include "worker/data/sentence_pairs.h"

namespace podium {
namespace {

constexpr double kDraws = 1e6;
// A sampler that follows the recipe fails one of 10,000 seeds.
constexpr double kLeastP = 1e-4;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

TEST(ChiSquared, PIsThatOfTheTables) {
  EXPECT_NEAR(chi_squared_p(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(chi_squared_p(18.307, 10), 0.05, 1e-4);
  EXPECT_NEAR(chi_squared_p(29.588, 10), 0.001, 1e-5);
  EXPECT_NEAR(chi_squared_p(124.342, 100), 0.05, 1e-4);
  EXPECT_NEAR(chi_squared_p(2.558, 10), 0.99, 1e-4);
  EXPECT_LT(chi_squared_p({799'000, 101'000, 100'000}, {0.8, 0.1, 0.1}), 0.01);
  EXPECT_LT(chi_squared_p({798'000, 102'000, 100'000}, {0.8, 0.1, 0.1}), kLeastP) << "a fifth of a hundredth";
}

// [CLS], words of `pieces` tokens each, [SEP].
std::vector<std::int32_t> words(const Vocabulary& vocabulary, int count, int pieces) {
  std::vector<std::int32_t> ids{vocabulary.special().classify};
  for (int i = 0; i < count; ++i) {
    ids.push_back(5 + i % 100);
    for (int piece = 1; piece < pieces; ++piece) ids.push_back(105 + i % 20);
  }
  ids.push_back(vocabulary.special().separator);
  return ids;
}

struct MaskCounts {
  double rounds = 0;
  std::vector<double> chosen;    // of each position behind [CLS]
  std::vector<double> becomes;   // [MASK], as it was, another token
  std::vector<double> replaced;  // by each token of the vocabulary
};

MaskCounts count_masks(const Vocabulary& vocabulary, const std::vector<std::int32_t>& original,
                       const MaskingRule& rule) {
  MaskCounts counts{0, std::vector<double>(original.size() - 2, 0), std::vector<double>(3, 0),
                    std::vector<double>(at(vocabulary.size()), 0)};
  for (double draws = 0; draws < kDraws; ++counts.rounds) {
    Random random(17, static_cast<std::uint64_t>(counts.rounds));
    auto ids = original;
    const Masked masked = mask_tokens(ids, rule, vocabulary, random);
    draws += static_cast<double>(masked.positions.size());
    for (std::size_t k = 0; k < masked.positions.size(); ++k) {
      const std::int32_t now = ids[at(masked.positions[k])];
      ++counts.chosen[at(masked.positions[k] - 1)];
      if (now == vocabulary.special().mask) {
        ++counts.becomes[0];
      } else if (now == masked.labels[k]) {
        ++counts.becomes[1];
      } else {
        ++counts.becomes[2];
        ++counts.replaced[at(now)];
      }
    }
  }
  return counts;
}

// A random token is one of the whole vocabulary, so it may also be [MASK] or what stood there.
std::vector<double> recipe_of(const Vocabulary& vocabulary) {
  const double one = 0.1 / vocabulary.size();
  return {0.8 + one, 0.1 + one, 0.1 - 2 * one};
}

TEST(MaskingStatistics, EightyTenTenAtPositionsAlikeWithTokensAlike) {
  const Vocabulary vocabulary = made_up_vocabulary();
  // One word everywhere, so that each other token but [MASK] replaces it equally often.
  std::vector<std::int32_t> original(100, 50);
  original.front() = vocabulary.special().classify;
  original.back() = vocabulary.special().separator;
  MaskCounts counts = count_masks(vocabulary, original, {0.15, 20, false});
  EXPECT_GT(chi_squared_p(counts.becomes, recipe_of(vocabulary)), kLeastP);
  EXPECT_GT(chi_squared_p_without_replacement(counts.chosen, counts.rounds, 15), kLeastP);
  counts.replaced.erase(counts.replaced.begin() + 50);
  counts.replaced.erase(counts.replaced.begin() + vocabulary.special().mask);
  EXPECT_GT(chi_squared_p(counts.replaced), kLeastP);
}

TEST(MaskingStatistics, WholeWordsAreChosenAlikeAndTheirPiecesReplacedAlone) {
  const Vocabulary vocabulary = made_up_vocabulary();
  const MaskCounts counts = count_masks(vocabulary, words(vocabulary, 50, 2), {0.15, 14, true});
  EXPECT_GT(chi_squared_p(counts.becomes, recipe_of(vocabulary)), kLeastP);
  std::vector<double> chosen;
  for (std::size_t i = 0; i < counts.chosen.size(); i += 2) {
    EXPECT_EQ(counts.chosen[i], counts.chosen[i + 1]) << "both pieces or none";
    chosen.push_back(counts.chosen[i]);
  }
  EXPECT_GT(chi_squared_p_without_replacement(chosen, counts.rounds, 7), kLeastP);
}

TEST(MaskingStatistics, OfWholeWordsOnlyThoseThatFitAreChosen) {
  const Vocabulary vocabulary = made_up_vocabulary();
  const MaskCounts counts = count_masks(vocabulary, words(vocabulary, 30, 3), {0.15, 14, true});
  EXPECT_EQ(std::accumulate(counts.chosen.begin(), counts.chosen.end(), 0.0), counts.rounds * 12)
      << "four words of three pieces; a fifth would be one token too many";
}

TEST(PairStatistics, TargetsOrderAndPlaceOfTheCutFollowTheRecipe) {
  constexpr std::int32_t kBudget = 60;
  const MadeUpCorpus made_up(400);
  for (const double short_share : {0.1, 0.35}) {
    std::vector<double> targets(kBudget - 1, 0);  // from 2 on
    std::vector<double> next(2, 0);
    std::vector<double> middles(4, 0);  // of five sentences
    double spans = 0;
    for (std::uint64_t plan = 0; spans < kDraws; ++plan) {
      Random random(23, plan);
      for (const PairSpan& span : plan_pairs(made_up.corpus, kBudget, short_share, random)) {
        ++spans;
        ++targets[at(span.target - 2)];
        const std::int64_t sentences = span.end - span.begin;
        if (sentences == 1) {
          ASSERT_TRUE(span.random_next) << "nothing follows";
          continue;
        }
        ++next[span.random_next ? 1 : 0];
        if (sentences == 5) ++middles[at(span.middle - span.begin - 1)];
      }
    }
    // A short target is any of 2 to the budget.
    std::vector<double> shares(targets.size(), short_share / static_cast<double>(targets.size()));
    shares.back() += 1 - short_share;
    EXPECT_GT(chi_squared_p(targets, shares), kLeastP) << short_share;
    EXPECT_GT(chi_squared_p(next), kLeastP) << short_share;
    EXPECT_GT(chi_squared_p(middles), kLeastP) << short_share;
    EXPECT_GT(next[0] + next[1], kDraws / 2);
  }
}

TEST(PairStatistics, ARandomNextIsAnySentenceOfAnyOtherDocument) {
  MadeUpCorpus made_up(1);
  std::string text;
  std::vector<int> document_of;  // each sentence is one word, of a token of its own
  for (int document = 0; document < 20; ++document) {
    for (int sentence = 0; sentence <= document % 5; ++sentence) {
      text += "w" + std::to_string(document_of.size()) + "\n";
      document_of.push_back(document);
    }
    text += "\n";
  }
  const Corpus corpus = made_up.read(text);
  constexpr int kOwn = 3;
  const std::int64_t begin = corpus.first_sentence(kOwn);
  const PairSpan span{kOwn, begin, begin + 1, begin + 2, 50, true};
  std::vector<double> counts(document_of.size(), 0);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kDraws); ++i) {
    Random random(29, i);
    ++counts[at(draw_pair(corpus, span, 50, random).b.front() - 5)];
  }
  std::vector<double> seen;
  std::vector<double> shares;
  for (std::size_t sentence = 0; sentence < counts.size(); ++sentence) {
    const int document = document_of[sentence];
    if (document == kOwn) {
      EXPECT_EQ(counts[sentence], 0);
      continue;
    }
    seen.push_back(counts[sentence]);
    shares.push_back(1.0 / 19 / (document % 5 + 1));
  }
  EXPECT_GT(chi_squared_p(seen, shares), kLeastP);
}

TEST(PairStatistics, ATokenTooManyGoesFromEitherEnd) {
  MadeUpCorpus made_up(1);
  const Corpus corpus = made_up.read("w0 w1 w2 w3 w4 w5 w6 w7\nw8\n");
  const PairSpan span{0, 0, 1, 2, 8, false};
  std::vector<double> ends(2, 0);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kDraws); ++i) {
    Random random(31, i);
    const TokenPair pair = draw_pair(corpus, span, 8, random);
    ASSERT_EQ(pair.a.size(), 7u);
    ++ends[pair.a.front() == 5 ? 1 : 0];
  }
  EXPECT_GT(chi_squared_p(ends), kLeastP);
}

// Every window once an epoch, at each place equally often: places and windows in `bins` alike, [place,
// window].
TEST(LanguageStatistics, EveryEpochHasAnOrderOfItsOwn) {
  struct Case {
    std::int32_t windows;
    std::int32_t bins;
  };
  constexpr std::int32_t kBase = 250;
  const TempFolder folder;
  const BpeTokenizer tokenizer(byte_vocabulary({}));
  for (const auto& [windows, bins] : {Case{64, 64}, Case{256, 64}, Case{1000, 50}, Case{20'000, 50}}) {
    std::vector<std::int32_t> tokens;  // each window begins with its number, in two digits
    for (std::int32_t window = 0; window < windows; ++window)
      tokens.insert(tokens.end(), {window % kBase, window / kBase, 0, 0});
    tokens.push_back(0);
    Reading reading;
    const TokenStream stream({write_megatron<std::uint8_t>(folder.path() / "windows", {tokens}, 1)},
                             tokenizer, reading);
    const LanguageDataset dataset(stream, 4, 41);
    ASSERT_EQ(dataset.epoch_size(), windows);
    const auto epochs = static_cast<std::int64_t>(kDraws) / windows + 1;
    std::vector<double> counts(at(bins * bins), 0);
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      std::vector<bool> seen(at(windows), false);
      for (std::int64_t place = 0; place < windows; ++place) {
        const std::vector<std::int32_t> sample = dataset.sample(epoch * windows + place);
        const std::int32_t window = sample[0] + kBase * sample[1];
        ASSERT_FALSE(seen[at(window)]);
        seen[at(window)] = true;
        ++counts[at(place * bins / windows * bins + static_cast<std::int64_t>(window) * bins / windows)];
      }
    }
    // A sum of permutation matrices, summed over blocks of m x m: its rows and columns have constant sums,
    // and the covariance of the rest has the one eigenvalue m m / (windows - 1) for each epoch.
    const double block = static_cast<double>(windows) / bins;
    const double mean = static_cast<double>(epochs) * block / bins;
    double statistic = 0;
    for (const double count : counts) statistic += (count - mean) * (count - mean);
    statistic /= static_cast<double>(epochs) * block * block / (windows - 1);
    EXPECT_GT(chi_squared_p(statistic, (bins - 1.0) * (bins - 1)), kLeastP) << windows;
  }
}

}  // namespace
}  // namespace podium
