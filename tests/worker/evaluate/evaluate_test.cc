#include "worker/evaluate/evaluate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/temp_folder.h"
#include "tests/worker/data/corpus_fixture.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/evaluate/lambada.h"
#include "worker/evaluate/wikitext.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/train/job_device.h"

namespace podium {
namespace {

using testing::ElementsAre;

TEST(Windows, PredictEveryTokenOnceWithTheMostContext) {
  std::vector<std::int32_t> ids(203);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  for (const WindowRule rule :
       {WindowRule{32, 8}, WindowRule{32, 32}, WindowRule{32, 5}, WindowRule{300, 7}}) {
    std::vector<std::int32_t> predicted;
    const std::int64_t count = window_count(std::ssize(ids), rule);
    for (std::int64_t begin = 0; begin < count; begin += 3) {
      const MicroBatch batch = windows_of(ids, rule, begin, std::min(count, begin + 3), -1);
      const Targets& targets = batch.targets[kLanguageTerm];
      for (std::size_t i = 0; i < targets.labels.size(); ++i) {
        const std::int32_t label = targets.labels[i];
        predicted.push_back(label);
        EXPECT_EQ(batch.input_ids[static_cast<std::size_t>(targets.positions[i])], label - 1);
        const std::int32_t column = targets.positions[i] % rule.length;
        if (label > rule.length) {
          EXPECT_GE(column, rule.length - rule.stride);
        }
        EXPECT_LT(column, batch.valid_lengths[static_cast<std::size_t>(targets.positions[i] / rule.length)]);
      }
    }
    ASSERT_EQ(predicted.size(), 202u) << rule.length << " by " << rule.stride;
    for (std::size_t i = 0; i < predicted.size(); ++i)
      EXPECT_EQ(predicted[i], static_cast<std::int32_t>(i + 1));
  }
  EXPECT_EQ(window_count(1, {32, 8}), 0);
  EXPECT_EQ(window_count(33, {32, 8}), 1);
  EXPECT_EQ(window_count(34, {32, 8}), 2);
}

TEST(Lambada, TheLastWordIsEncodedWithItsSpaceAndTheContextWithout) {
  const BpeTokenizer tokenizer(byte_vocabulary({"Ġ b"}));
  const LastWord passage = split_last_word(" a a \n bc \n", tokenizer);
  EXPECT_EQ(tokenizer.vocabulary().decode(passage.context), "a a");
  EXPECT_EQ(tokenizer.vocabulary().decode(passage.word), " bc");
  EXPECT_EQ(passage.word.size(), 2u);
  EXPECT_TRUE(split_last_word("bc", tokenizer).context.empty());

  const MicroBatch whole = batch_of({{1, 2, 3}, {4, 5}}, 10);
  EXPECT_THAT(whole.input_ids, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(whole.targets[0].positions, ElementsAre(2, 3));
  EXPECT_THAT(whole.targets[0].labels, ElementsAre(4, 5));
  const MicroBatch cut = batch_of({{1, 2, 3}, {4, 5}}, 3);
  EXPECT_THAT(cut.input_ids, ElementsAre(2, 3, 4));
  EXPECT_THAT(cut.targets[0].labels, ElementsAre(4, 5));
}

// A model with random weights in Hugging Face's form.
class EvaluateTest : public testing::Test {
 protected:
  EvaluateTest() { context_.threads = 1; }

  TrainedModel model(ModelFamily family, int vocabulary) {
    ModelSpec spec;
    spec.family = family;
    spec.layers = 2;
    spec.hidden = 32;
    spec.heads = 2;
    spec.intermediate = 64;
    spec.vocab = vocabulary;
    spec.max_positions = 32;
    spec.initializer_range = 0.3;
    const auto world = meet_world({}, context_.memory);
    const ParallelGroups groups = make_groups(*world, {});
    const auto made = make_model(context_, spec, {}, groups);
    made->parameters().initialise(3, spec.initializer_range);
    std::vector<FullTensor> full;
    for (const Parameter& parameter : made->parameters().list()) {
      const auto values = std::as_const(made->parameters()).weights(parameter);
      std::vector<std::int64_t> shape;
      for (int axis = 0; axis < parameter.shape.rank(); ++axis) shape.push_back(parameter.shape[axis]);
      full.push_back({parameter.name, shape, {values.begin(), values.end()}});
    }
    write_hugging_face(folder_.path() / "model", spec, source_of(full), 1 << 30);
    return {context_, folder_.path() / "model", Precision::fp32};
  }
  static double at(const Measures& measures, const std::string& name) {
    for (const auto& [key, value] : measures)
      if (key == name) return value;
    ADD_FAILURE() << "no " << name;
    return 0;
  }

  Context context_;
  TempFolder folder_;
  const OnProgress quiet_ = [](double) {};
};

// Each token by itself, behind the context that its window has.
TEST_F(EvaluateTest, WikitextIsTheSumOverEachTokenByTheWords) {
  const BpeTokenizer tokenizer(byte_vocabulary({"Ġ b"}));
  TrainedModel gpt = model(ModelFamily::gpt, 264);
  const std::string text = " = b = \n \n a ba , c . \n abab b b a @-@ b ( c ) cab a bb a ab \n";
  std::vector<std::int32_t> ids;
  tokenizer.encode(detokenize_wikitext(text), ids);
  const WindowRule rule{16, 5};
  double loss = 0;
  for (std::int32_t token = 1; token < std::ssize(ids); ++token) {
    const std::int32_t first =
        token <= rule.length ? 0 : (token - rule.length + rule.stride - 1) / rule.stride * rule.stride;
    MicroBatch one;
    one.sequences = 1;
    one.length = token - first;
    one.input_ids.assign(ids.begin() + first, ids.begin() + token);
    one.valid_lengths = {one.length};
    one.targets[0] = {{one.length - 1}, {ids[static_cast<std::size_t>(token)]}};
    loss += gpt.evaluate(one)[0].loss;
  }
  for (const int batch : {1, 3}) {
    const Measures measures = evaluate_wikitext(gpt, tokenizer, text, rule, batch, 0, quiet_);
    const auto words = static_cast<double>(count_wikitext_words(text));
    EXPECT_NEAR(std::log(at(measures, "word_perplexity")), loss / (words - 1), 1e-4);
    EXPECT_NEAR(at(measures, "token_loss"), loss / static_cast<double>(ids.size() - 1), 1e-4);
  }
  EXPECT_THROW(evaluate_wikitext(gpt, tokenizer, " ", rule, 1, 0, quiet_), BadData);
}

// Passages that end as the model itself would end them, and the same with one more token that it would not
// say.
TEST_F(EvaluateTest, ALastWordIsRightWhereEveryTokenIsTheLikeliest) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::vector<std::string> merges;
  for (const char letter : letters) merges.push_back(std::string("Ġ ") + letter);
  const BpeTokenizer tokenizer(byte_vocabulary(merges));
  TrainedModel gpt = model(ModelFamily::gpt, 288);
  const auto says = [&](const std::string& passage) {
    const LossSum sum = gpt.evaluate(batch_of(split_last_word(passage, tokenizer), 32))[0];
    return sum.correct == sum.count;
  };
  std::vector<std::string> right, wrong;
  for (std::size_t i = 0; i < letters.size() * letters.size() && right.size() < 3; ++i) {
    const std::string context{letters[i % letters.size()], letters[i / letters.size()], ' '};
    const auto said = std::ranges::find_if(letters, [&](char letter) { return says(context + letter); });
    if (said == letters.end()) continue;
    right.push_back(context + *said);
    wrong.push_back(right.back() + (says(right.back() + 'a') ? 'b' : 'a'));
  }
  ASSERT_EQ(right.size(), 3U);
  const Measures all_right = evaluate_lambada(gpt, tokenizer, right, quiet_);
  EXPECT_EQ(at(all_right, "last_word_accuracy"), 1);
  EXPECT_EQ(at(all_right, "token_accuracy"), 1);
  const Measures all_wrong = evaluate_lambada(gpt, tokenizer, wrong, quiet_);
  EXPECT_EQ(at(all_wrong, "last_word_accuracy"), 0);
  EXPECT_EQ(at(all_wrong, "token_accuracy"), 0.5);
  const Measures mixed = evaluate_lambada(gpt, tokenizer, {right[0], "lonely", wrong[1]}, quiet_);
  EXPECT_EQ(at(mixed, "last_word_accuracy"), 0.5);
  EXPECT_EQ(at(mixed, "passages"), 2);
  EXPECT_EQ(at(mixed, "left_out"), 1);
}

TEST_F(EvaluateTest, MaskedTokensAreThoseOfAJobsEvaluation) {
  const MadeUpCorpus made;
  TrainedModel bert = model(ModelFamily::bert, 128);
  TrainingSpec training;
  training.sequence_length = 32;
  const Measures one = evaluate_masked(bert, made.tokenizer, made.corpus, training, 40, 1, quiet_);
  const Measures many = evaluate_masked(bert, made.tokenizer, made.corpus, training, 40, 16, quiet_);
  EXPECT_EQ(at(one, "sequences"), 40);
  EXPECT_EQ(at(one, "masked_tokens"), at(many, "masked_tokens"));
  EXPECT_NEAR(at(one, "mlm_loss"), at(many, "mlm_loss"), 1e-5);
  EXPECT_NEAR(at(one, "masked_perplexity"), std::exp(at(one, "mlm_loss")), 1e-6);
}

}  // namespace
}  // namespace podium
