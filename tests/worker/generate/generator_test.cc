// What requests come to, whatever stands beside them: against one request at a time, chosen the slow way.
#include "worker/generate/generator.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/worker/generate/small_language.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"

namespace podium::test {
namespace {

struct Text {
  std::string text;
  std::vector<std::int32_t> ids;
  GenerationEnd reason{};

  bool operator==(const Text&) const = default;
};

// A model whose tokens are bytes, and some that no tokenizer knows.
class Generator : public testing::Test {
 protected:
  static ModelSpec spec() {
    ModelSpec spec = small_language(ModelFamily::gpt);
    spec.vocab = 270;
    return spec;
  }

  std::vector<Text> run(const std::vector<GenerationRequest>& requests, GenerationRule rule, int slots,
                        int threads = 2) {
    rule.ends = {tokenizer_.end_of_text()};
    Context context{.threads = threads};
    LanguageWeights weights = make_language_weights(context, language_.source, InferencePrecision::fp32);
    GenerationSession session(context, weights, {.slots = slots, .positions = kLength});
    std::vector<Text> texts(requests.size());
    std::vector<bool> ended(requests.size(), false);
    const GenerationListener listener{[&](std::size_t request, std::string_view text) {
                                        EXPECT_FALSE(ended[request]);
                                        texts[request].text += text;
                                      },
                                      [&](std::size_t request, const Generation& done) {
                                        EXPECT_FALSE(ended[request]);
                                        ended[request] = true;
                                        texts[request].ids = done.ids;
                                        texts[request].reason = done.reason;
                                      }};
    const GenerationTotals totals = generate(session, tokenizer_, requests, rule, listener);
    EXPECT_EQ(std::ranges::count(ended, true), std::ssize(requests));
    std::int64_t read = 0;
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (i == 0 || requests[i].prompt != requests[i - 1].prompt) read += std::ssize(requests[i].prompt);
    EXPECT_EQ(totals.prompt_tokens, read) << "a prompt that comes again is not read again";
    return texts;
  }

  // The likeliest tokens one after the other, each from the whole text before it.
  std::vector<std::int32_t> greedy(std::vector<std::int32_t> ids, int count) {
    std::vector<std::int32_t> found;
    for (int i = 0; i < count; ++i) {
      const std::vector<double> row = language_.trained(ids, ids.size() - 1);
      const auto known = std::span(row).first(static_cast<std::size_t>(tokenizer_.size()));
      found.push_back(static_cast<std::int32_t>(std::ranges::max_element(known) - known.begin()));
      ids.push_back(found.back());
    }
    return found;
  }

  std::vector<GenerationRequest> some_requests() const {
    std::vector<GenerationRequest> requests;
    for (int i = 0; i < 9; ++i)
      requests.push_back(
          {random_ids(small_language(ModelFamily::gpt), 1 + 3 * i % 8, static_cast<std::uint64_t>(i / 2)),
           i % 2, 5 + 2 * i});
    return requests;
  }

  Language language_{spec()};
  BpeTokenizer tokenizer_{byte_vocabulary({})};
};

TEST_F(Generator, WithoutTemperatureTakesTheLikeliest) {
  for (const std::vector<std::int32_t>& prompt : {std::vector<std::int32_t>{65}, {1, 200, 3, 90, 33}}) {
    const std::vector<Text> texts = run({{prompt, 0, 6}}, {.sampling = {.temperature = 0}}, 1);
    EXPECT_EQ(texts[0].ids, greedy(prompt, 6));
    EXPECT_EQ(texts[0].reason, GenerationEnd::length);
  }
}

TEST_F(Generator, NeitherOrderNorBatchNorThreadsMatter) {
  const std::vector<GenerationRequest> requests = some_requests();
  const GenerationRule rule{.sampling = {.temperature = 1.3, .top_k = 40}, .seed = 5, .stops = {"e", "~"}};
  const std::vector<Text> expected = run(requests, rule, 1);
  EXPECT_EQ(run(requests, rule, 4, 3), expected);
  EXPECT_EQ(run(requests, rule, 20), expected);
  const std::vector<GenerationRequest> backwards(requests.rbegin(), requests.rend());
  EXPECT_EQ(run(backwards, rule, 3), std::vector<Text>(expected.rbegin(), expected.rend()));
}

TEST_F(Generator, SeedsAndSamplesDraw) {
  const std::vector<GenerationRequest> requests{{{65, 66}, 0, 20}, {{65, 66}, 1, 20}, {{65, 67}, 0, 20}};
  const std::vector<Text> one = run(requests, {.seed = 1}, 2), two = run(requests, {.seed = 2}, 2);
  EXPECT_NE(one[0].ids, one[1].ids);
  EXPECT_NE(one[0].ids, two[0].ids);
  EXPECT_NE(one[0].ids, one[2].ids);
  EXPECT_EQ(one, run(requests, {.seed = 1}, 3));
}

// Whichever slot the prompt is copied from, and whatever has been written behind it there.
TEST_F(Generator, SamplesOfAPromptThatIsReadOnceAreThoseOfPromptsThatAreReadEach) {
  std::vector<GenerationRequest> requests;
  for (const std::vector<std::int32_t>& prompt :
       {std::vector<std::int32_t>{65, 66, 67}, {1, 2}, {65, 66, 67}})
    for (int sample = 0; sample < 5; ++sample) requests.push_back({prompt, sample, 3 + 4 * (sample % 3)});
  std::vector<Text> expected;
  for (const GenerationRequest& one : requests) expected.push_back(run({one}, {.seed = 4}, 1)[0]);
  for (const int slots : {1, 2, 3, 20}) EXPECT_EQ(run(requests, {.seed = 4}, slots), expected) << slots;
}

TEST_F(Generator, EndsAtStopStringsAndTheEndOfText) {
  const GenerationRule free{.sampling = {.temperature = 2}, .seed = 3};
  const Text whole = run({{{70}, 0, 30}}, free, 1)[0];
  ASSERT_EQ(whole.reason, GenerationEnd::length);
  ASSERT_EQ(whole.ids.size(), 30U);
  // Of the first two characters of one byte that follow each other.
  const auto one_byte = [&](std::size_t i) { return whole.ids[i] < 128; };
  std::size_t at = 0;
  while (at < 28 && !(one_byte(at) && one_byte(at + 1))) ++at;
  ASSERT_LT(at, 28U);
  const std::string stop =
      std::string(tokenizer_.token(whole.ids[at])) + std::string(tokenizer_.token(whole.ids[at + 1]));
  GenerationRule stopping = free;
  stopping.stops = {"never comes", stop};
  const Text stopped = run({{{70}, 0, 30}}, stopping, 1)[0];
  EXPECT_EQ(stopped.reason, GenerationEnd::stop);
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(stop)));
  EXPECT_EQ(stopped.ids, std::vector<std::int32_t>(whole.ids.begin(),
                                                   whole.ids.begin() + static_cast<std::ptrdiff_t>(at) + 2));
}

TEST_F(Generator, TokensThatNoTextHasAreNotDrawn) {
  for (const Text& text : run(some_requests(), {.sampling = {.temperature = 1e4}}, 8)) {
    for (const std::int32_t id : text.ids) EXPECT_LT(id, tokenizer_.size());
  }
}

// Ids 257 to 264 are between the vocabulary and the added token.
TEST_F(Generator, IdsBetweenAddedTokensAreNotDrawn) {
  tokenizer_ = BpeTokenizer(byte_vocabulary({}), {.added = {{.content = "<more>", .id = 265}}});
  std::vector<GenerationRequest> requests;
  for (int sample = 0; sample < 300; ++sample) requests.push_back({{65}, sample, 30});
  std::set<std::int32_t> drawn;
  for (const Text& text : run(requests, {.sampling = {.temperature = 1e4}}, 60))
    drawn.insert(text.ids.begin(), text.ids.end());
  EXPECT_GT(drawn.size(), 200U);
  EXPECT_TRUE(drawn.contains(265));
  for (std::int32_t id = 257; id < 265; ++id) EXPECT_FALSE(drawn.contains(id)) << id;
}

TEST_F(Generator, TheTokenThatEndsATextEndsIt) {
  std::vector<float>& word = language_.source.tensors.at("transformer.wte.weight").values;
  // Its logit is that of the likeliest, times two.
  const std::int32_t likeliest = greedy({70}, 1)[0], end = tokenizer_.end_of_text();
  const auto hidden = static_cast<std::size_t>(spec().hidden);
  for (std::size_t i = 0; i < hidden; ++i)
    word[static_cast<std::size_t>(end) * hidden + i] =
        2 * word[static_cast<std::size_t>(likeliest) * hidden + i];
  const Text text = run({{{70}, 0, 9}}, {.sampling = {.temperature = 0}}, 1)[0];
  EXPECT_EQ(text.reason, GenerationEnd::end);
  EXPECT_EQ(text.ids, std::vector<std::int32_t>{});
  EXPECT_EQ(text.text, "");
}

}  // namespace
}  // namespace podium::test
