// One text whose results are no numbers, computed beside others.
#include "worker/infer/finite_results.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/worker/infer/small_source.h"
#include "worker/infer/head_inference.h"
#include "worker/infer/text_inference.h"
#include "worker/input/bad_data.h"

namespace podium::test {
namespace {

constexpr std::int32_t kBroken = 9, kMask = 4;

// The embedding of one token is no number.
SourceModel broken_source(const ModelSpec& spec) {
  SourceModel source = random_source_model(spec);
  std::vector<float>& words = source.tensors.at(family_of(spec).names.word.data()).values;
  words[static_cast<std::size_t>(kBroken * spec.hidden)] = std::numeric_limits<float>::quiet_NaN();
  return source;
}

TextSequence text_with(std::int32_t token) {
  TextSequence sequence{.ids = {2, token, kMask, 3}, .types = {0, 0, 0, 0}};
  sequence.masked = {2};
  return sequence;
}

TEST(FiniteResults, AreOfEachTextByItself) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  Context context{.threads = 1};
  // The broken row also scores masks, so that its text is told by the hidden states.
  BertWeights weights = make_bert_weights(context, broken_source(spec), {});
  const SpecialTokens special{.pad = 0, .unknown = 1, .classify = 2, .separator = 3, .mask = kMask};
  TextInference inference(context, weights, special);
  TextSequence plain = text_with(7);
  plain.masked.clear();
  TextSequence broken = text_with(kBroken);
  const std::vector<TextSequence> texts{plain, broken, plain};
  const std::vector<TextResult> results = inference.run(texts, 3);
  EXPECT_TRUE(results[0].finite);
  EXPECT_FALSE(results[1].finite);
  EXPECT_TRUE(results[1].masks.empty()) << "nothing is the likeliest";
  EXPECT_TRUE(results[2].finite);
}

TEST(FiniteResults, ThoseOfMasksCount) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  Context context{.threads = 1};
  BertWeights weights = make_bert_weights(context, broken_source(spec), {});
  const SpecialTokens special{.pad = 0, .unknown = 1, .classify = 2, .separator = 3, .mask = kMask};
  TextInference inference(context, weights, special);
  const std::vector<TextSequence> texts{text_with(7)};
  const TextResult result = inference.run(texts, 3).front();
  EXPECT_TRUE(all_finite(result.mean)) << "its own tokens are whole";
  EXPECT_FALSE(result.finite) << "one of the scores is not";
}

TEST(FiniteResults, ARefusalNamesTheText) {
  const std::vector<float> good{1, -2}, bad{1, std::numeric_limits<float>::infinity()};
  EXPECT_TRUE(all_finite(good));
  EXPECT_FALSE(all_finite(bad));
  EXPECT_THAT(
      [] { refuse_not_finite("lines.txt:7"); },
      testing::ThrowsMessage<BadData>(testing::HasSubstr("lines.txt:7: the model's results are not finite")));
}

}  // namespace
}  // namespace podium::test
