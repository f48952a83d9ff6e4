#include "worker/tasks/squad/squad_answers.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tasks/squad_reference.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

constexpr char kContext[] = "Café  Noël (1895-1943) was the house\tof the Steve Smiths, U.S. dollars $5";

struct Fixture {
  explicit Fixture(const FeatureShape& shape_used, const std::string& context = kContext)
      : shape(shape_used) {
    Reading reading;
    text.add_questions({false, {{context, {{"q", "who was it"}}}}}, tokenizer, reading);
    example = run_squad::read_context(context);
    example.question = "who was it";
  }

  WordPieceTokenizer tokenizer{
      Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]",   "[MASK]", "cafe", "noel",  "(",     "1895", "-",
                  "1943",  ")",     "was",   "the",     "house",  "of",   "steve", "smith", "##s",  ",",
                  "u",     ".",     "s",     "dollars", "$",      "5",    "who",   "it",    "##"},
                 "test"),
      true};
  FeatureShape shape;
  SquadText text;
  run_squad::Example example;
};

// Steps of a half make ties.
run_squad::Logits random_logits(std::size_t tokens, Random& random) {
  run_squad::Logits logits(tokens);
  for (auto& pair : logits)
    for (float& logit : pair) logit = static_cast<float>(random.below(16)) / 2 - 3;
  return logits;
}

std::vector<FeatureScores> scores_of(const std::vector<run_squad::Logits>& logits, int n_best) {
  std::vector<FeatureScores> scores;
  for (const run_squad::Logits& one : logits) {
    std::vector<float> flat;
    for (const auto& pair : one) flat.insert(flat.end(), pair.begin(), pair.end());
    scores.push_back(FeatureScores::of(flat, n_best));
  }
  return scores;
}

void expect_equal(const SquadAnswers& found, const run_squad::Prediction& expected, bool version2) {
  EXPECT_EQ(found.answer, expected.answer);
  if (version2) {
    EXPECT_EQ(found.null_odds, expected.score_diff);
  }
  ASSERT_EQ(found.best.size(), expected.best.size());
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    EXPECT_EQ(found.best[i].text, expected.best[i].text) << i;
    EXPECT_EQ(found.best[i].first, expected.best[i].start) << i;
    EXPECT_EQ(found.best[i].last, expected.best[i].end) << i;
    EXPECT_DOUBLE_EQ(found.best[i].probability, expected.best[i].probability) << i;
  }
}

class SquadAnswersOf : public testing::TestWithParam<bool> {};

TEST_P(SquadAnswersOf, RandomScoresAreRunSquads) {
  const bool version2 = GetParam();
  Random random(3, version2);
  for (const FeatureShape& shape :
       {FeatureShape{100, 128, 64}, FeatureShape{16, 4, 8}, FeatureShape{20, 9, 2}}) {
    const Fixture fixture(shape);
    const SquadFeatures features(fixture.text, shape);
    const auto expected_features = run_squad::features_of(
        fixture.example, fixture.tokenizer, shape.sequence_length, shape.document_stride, shape.query_length);
    for (int round = 0; round < 100; ++round) {
      const AnswerRules rules{.n_best = static_cast<int>(random.below(20)) + 1,
                              .answer_length = static_cast<int>(random.below(10)) + 1,
                              .may_be_none = version2,
                              .null_threshold = random.below(5) - 2.0};
      std::vector<run_squad::Logits> logits;
      for (const run_squad::Feature& feature : expected_features)
        logits.push_back(random_logits(feature.tokens.size(), random));
      const auto text_of = [&](const run_squad::Feature& feature, int start, int end) {
        return fixture.text.contexts()[0].text_of(
            {feature.token_of_context.at(start), feature.token_of_context.at(end)});
      };
      expect_equal(answer_question(features, 0, scores_of(logits, rules.n_best), rules),
                   run_squad::predict(expected_features, logits, rules.n_best, rules.answer_length, version2,
                                      rules.null_threshold, text_of),
                   version2);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, SquadAnswersOf, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "v2" : "v1"; });

TEST(SquadAnswers, AContextWithoutATokenHasNoText) {
  const Fixture fixture({100, 128, 64}, " ");
  const SquadFeatures features(fixture.text, fixture.shape);
  EXPECT_EQ(features.size(), 0);
  EXPECT_EQ(answer_question(features, 0, {}, {}).answer, "empty");
  EXPECT_FALSE(answer_question(features, 0, {}, {}).has_candidate);
  EXPECT_EQ(answer_question(features, 0, {}, {.may_be_none = true}).answer, "");
  EXPECT_TRUE(answer_question(features, 0, {}, {.may_be_none = true}).has_candidate) << "none is one";
}

struct Agreement {
  int equal = 0, whole = 0, ambiguous = 0, other = 0;
};

// The text of spans of a context by our rule and by run_squad.py's.
void compare_texts(const std::string& context, const WordPieceTokenizer& tokenizer, int spans, Random& random,
                   Agreement& agreement) {
  const SquadContext encoded = encode_context(context, tokenizer);
  const run_squad::Example example = run_squad::read_context(context);
  run_squad::Texts tokens;
  std::vector<std::size_t> words;
  for (std::size_t word = 0; word < example.doc_tokens.size(); ++word)
    for (const std::string& token : run_squad::tokens_of(tokenizer, example.doc_tokens[word])) {
      tokens.push_back(token);
      words.push_back(word);
    }
  ASSERT_EQ(tokens.size(), encoded.ids.size());
  for (int i = 0; i < spans; ++i) {
    const auto first = random.below(static_cast<std::uint32_t>(tokens.size()));
    const auto last = std::min<std::size_t>(first + random.below(8), tokens.size() - 1);
    std::string predicted = run_squad::join(tokens, first, last + 1);
    for (const char* const mark : {" ##", "##"})
      for (std::size_t at = 0; (at = predicted.find(mark)) != std::string::npos;)
        predicted.erase(at, std::string_view(mark).size());
    const run_squad::FinalText expected = run_squad::final_text(
        predicted, run_squad::join(example.doc_tokens, words[first], words[last] + 1), true);
    const std::string found =
        encoded.text_of({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)});
    if (found == expected.text)
      ++agreement.equal;
    else if (expected.whole)
      ++agreement.whole;
    else if (expected.ambiguous)
      ++agreement.ambiguous;
    else {
      ++agreement.other;
      ADD_FAILURE() << found << " | " << expected.text << " | " << predicted;
    }
  }
}

// Where both differ run_squad.py could not project the text back, and took whole words, or found it elsewhere
// in the words.
TEST(SquadAnswers, TextsAreRunSquadsWhereItCanProjectThemBack) {
  Agreement agreement;
  Random random(5, 0);
  const Fixture fixture({100, 128, 64});
  compare_texts(kContext, fixture.tokenizer, 2000, random, agreement);
  EXPECT_GT(agreement.equal, 1000);
  EXPECT_EQ(fixture.text.contexts()[0].text_of({0, 1}), "Café Noël");
  EXPECT_EQ(fixture.text.contexts()[0].text_of({3, 3}), "1895");
  EXPECT_EQ(fixture.text.contexts()[0].text_of({10, 13}), "of the Steve Smith");
}

TEST(SquadAnswers, TextsAreRunSquadsOnSquad) {
  const auto squad = shared_data("squad/dev-v1.1.reconstructed.json.zst");
  const auto vocabulary = shared_data("vocab/bert-base-uncased-vocab.txt");
  if (!squad || !vocabulary) GTEST_SKIP() << "skipped: no shared data";
  const TempFolder temp;
  write_file_atomic(temp.path() / "dev.json", read_zstd(*squad));
  const WordPieceTokenizer tokenizer(Vocabulary::load(*vocabulary), true);
  Agreement agreement;
  Random random(6, 0);
  for (const SquadParagraph& paragraph : read_squad(temp.path() / "dev.json").paragraphs)
    compare_texts(paragraph.context, tokenizer, 10, random, agreement);
  EXPECT_GT(agreement.equal, 20'000) << "of 20670; " << agreement.whole << " whole, " << agreement.ambiguous
                                     << " ambiguous";
}

TEST(SquadAnswers, FilesAreInTheOfficialForm) {
  const std::vector<std::string> ids{"q2", "q1"};
  const std::vector<SquadAnswers> answers{{"Noël", {{"Noël", 0.75, 2, 1}, {"", 0.25, 1, 0}}, -1.5},
                                          {"", {{"", 1, 3, 3}}, 6}};
  const AnswerFiles files = answer_files(ids, answers);
  EXPECT_EQ(files.predictions, "{\n    \"q2\": \"No\\u00ebl\",\n    \"q1\": \"\"\n}\n");
  EXPECT_EQ(files.null_odds, "{\n    \"q2\": -1.5,\n    \"q1\": 6.0\n}\n");
  const auto best = nlohmann::json::parse(files.n_best);
  EXPECT_EQ(best.at("q2").at(0).at("start_logit"), 2.0);
  EXPECT_EQ(best.at("q2").at(1).at("probability"), 0.25);
}

}  // namespace
}  // namespace podium
