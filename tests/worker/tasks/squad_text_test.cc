#include "worker/tasks/squad/squad_text.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tasks/squad_reference.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::Optional;

WordPieceTokenizer small_tokenizer() {
  return {Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s", "1", "-", ".",
                      "who"},
                     "test"),
          true};
}

TEST(SquadText, AnAnswerIsTheTokensOfItsOwnTextWhereTheyAreInItsWords) {
  const WordPieceTokenizer tokenizer = small_tokenizer();
  const SquadContext context = encode_context("The (cats)  sat 1-1.", tokenizer);
  EXPECT_THAT(context.ids, ElementsAre(5, 1, 6, 8, 1, 7, 9, 10, 9, 11));
  EXPECT_THAT(locate_answer(context, {"cats", 5}, tokenizer), Optional(TokenSpan{2, 3}));
  EXPECT_THAT(locate_answer(context, {"cat", 5}, tokenizer), Optional(TokenSpan{2, 2}));
  EXPECT_THAT(locate_answer(context, {"The", 0}, tokenizer), Optional(TokenSpan{0, 0}));
  EXPECT_THAT(locate_answer(context, {"at 1-", 13}, tokenizer), Optional(TokenSpan{5, 9}))
      << "all of the words";
  EXPECT_THAT(locate_answer(context, {"1", 18}, tokenizer), Optional(TokenSpan{6, 6})) << "the first of them";
  EXPECT_THAT(locate_answer(context, {"cats)  sat", 5}, tokenizer), Optional(TokenSpan{2, 5}));
  EXPECT_EQ(locate_answer(context, {"dog", 5}, tokenizer), std::nullopt);
  EXPECT_EQ(locate_answer(context, {"cats", 500}, tokenizer), std::nullopt);
  EXPECT_EQ(locate_answer(context, {"cats", -1}, tokenizer), std::nullopt);
  EXPECT_EQ(locate_answer(context, {"", 5}, tokenizer), std::nullopt);
  EXPECT_EQ(context.text_of({2, 5}), "cats) sat");
  EXPECT_EQ(context.text_of({3, 3}), "s");
}

TEST(SquadText, QuestionsWhoseAnswerIsNotInTheContextAreLeftOutAndCounted) {
  const WordPieceTokenizer tokenizer = small_tokenizer();
  SquadText text;
  Reading reading;
  const SquadParagraph paragraph{"the cat",
                                 {{"q1", "who", {{"dog", 0}}},
                                  {"q2", "who", {{"cat", 4}}},
                                  {"q3", "who", {}, true},
                                  {"q4", "", {{"", 0}}}}};
  text.add_training({true, {paragraph}}, tokenizer, reading);
  EXPECT_EQ(text.questions().size(), 2U);
  EXPECT_EQ(text.left_out(), 2);
  EXPECT_EQ(text.first_left_out(), "q1");
  EXPECT_THAT(text.questions()[0].answer, Optional(TokenSpan{1, 1}));
  EXPECT_EQ(text.questions()[1].answer, std::nullopt);
  SquadText held_out;
  held_out.add_questions({true, {paragraph}}, tokenizer, reading);
  EXPECT_EQ(held_out.questions().size(), 4U);
  EXPECT_EQ(reading.expected(), reading.done());
}

// Random texts of few words: every branch of the rules comes up often.
SquadParagraph random_paragraph(Random& random, int number) {
  const auto words = [&](int count) {
    const char* const choice[] = {"the", "cats", "Sat", "1-1.", "(cat)", "sat\tthe", "dog", "caté"};
    std::string text = random.below(4) == 0 ? " " : "";
    for (int i = 0; i < count; ++i)
      text += std::string(choice[random.below(8)]) + (random.below(5) == 0 ? "  " : " ");
    return text;
  };
  SquadParagraph paragraph{words(static_cast<int>(random.below(40)) + 1), {}};
  const run_squad::Texts characters = run_squad::characters(paragraph.context);
  for (int q = 0; q < 3; ++q) {
    const auto begin = random.below(static_cast<std::uint32_t>(characters.size()));
    const auto length = random.below(12) + 1;
    SquadAnswer answer{"", static_cast<std::int64_t>(begin)};
    for (std::size_t i = begin; i < std::min<std::size_t>(begin + length, characters.size()); ++i)
      answer.text += characters[i];
    if (answer.text.find_first_not_of(" \t") == std::string::npos) answer.text = "cats";
    paragraph.questions.push_back({std::to_string(number) + "-" + std::to_string(q),
                                   words(static_cast<int>(random.below(12))),
                                   {answer}});
  }
  return paragraph;
}

// Returns how many questions were left out.
std::int64_t check_features(const SquadData& data, const WordPieceTokenizer& tokenizer,
                            const FeatureShape& shape) {
  SquadText text;
  Reading reading;
  text.add_training(data, tokenizer, reading);
  const SquadFeatures features(text, shape);
  std::int64_t question = 0, left_out = 0, feature = 0;
  for (const SquadParagraph& paragraph : data.paragraphs) {
    const run_squad::Example context = run_squad::read_context(paragraph.context);
    for (const SquadQuestion& asked : paragraph.questions) {
      run_squad::Example example = context;
      example.question = asked.text;
      if (!run_squad::set_answer(example, asked.answers[0])) {
        ++left_out;
        continue;
      }
      EXPECT_EQ(features.first_of(question), feature);
      for (const run_squad::Feature& expected : run_squad::features_of(
               example, tokenizer, shape.sequence_length, shape.document_stride, shape.query_length)) {
        std::vector<std::int32_t> ids;
        const std::int32_t before = features.append(feature, tokenizer.vocabulary().special(), ids);
        run_squad::Texts tokens;
        for (const std::int32_t id : ids) tokens.push_back(tokenizer.vocabulary().token(id));
        EXPECT_EQ(tokens, expected.tokens) << asked.id;
        EXPECT_EQ(before, features.context_begin(feature));
        EXPECT_EQ(features.answer_positions(feature),
                  (TokenSpan{expected.start_position, expected.end_position}))
            << asked.id << " " << asked.answers[0].text << " in " << paragraph.context;
        for (const auto& [position, most] : expected.is_max_context)
          EXPECT_EQ(features.shows_most(feature, expected.token_of_context.at(position)), most) << asked.id;
        ++feature;
      }
      ++question;
      if (testing::Test::HasFailure()) return left_out;
    }
  }
  EXPECT_EQ(features.size(), feature);
  EXPECT_EQ(text.left_out(), left_out);
  return left_out;
}

TEST(SquadFeatures, EqualRunSquadsOnRandomTexts) {
  const WordPieceTokenizer tokenizer = small_tokenizer();
  SquadData data;
  Random random(1, 2);
  for (int i = 0; i < 200; ++i) data.paragraphs.push_back(random_paragraph(random, i));
  for (const FeatureShape& shape :
       {FeatureShape{24, 5, 8}, FeatureShape{20, 16, 4}, FeatureShape{100, 50, 64}})
    EXPECT_LT(check_features(data, tokenizer, shape), 300);
}

TEST(SquadFeatures, EqualRunSquadsOnSquad) {
  const auto squad = shared_data("squad/train-v1.1.reconstructed.json.zst");
  const auto vocabulary = shared_data("vocab/bert-base-uncased-vocab.txt");
  if (!squad || !vocabulary) GTEST_SKIP() << "skipped: no shared data";
  const TempFolder temp;
  write_file_atomic(temp.path() / "train.json", read_zstd(*squad));
  SquadData data = read_squad(temp.path() / "train.json");
  EXPECT_EQ(data.questions(), 87599);
  SquadData some;
  for (std::size_t i = 0; i < data.paragraphs.size(); i += 60) some.paragraphs.push_back(data.paragraphs[i]);
  check_features(some, WordPieceTokenizer(Vocabulary::load(*vocabulary), true), {128, 48, 16});
}

}  // namespace
}  // namespace podium
