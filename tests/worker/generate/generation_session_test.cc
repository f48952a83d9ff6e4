// Sequences that go on token by token against the trained model's own forward pass over the whole, which
// tests hold to PyTorch.
#include "worker/generate/generation_session.h"

#include <gtest/gtest.h>

#include "tests/worker/generate/small_language.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"

namespace podium::test {
namespace {

std::vector<ModelSpec> languages() {
  ModelSpec one_group = small_language(ModelFamily::llama, true);
  one_group.key_value_heads = 1;
  return {small_language(ModelFamily::gpt), small_language(ModelFamily::llama), one_group};
}

// A session with what it needs.
struct Open {
  Open(const Language& language, const CacheShape& cache,
       InferencePrecision precision = InferencePrecision::fp32, int threads = 2)
      : context{.threads = threads},
        weights(make_language_weights(context, language.source, precision)),
        session(context, weights, cache) {}

  // Begins with the first `prompt` tokens of `ids` and goes on with the others: the logits behind each.
  std::vector<std::vector<float>> feed(const std::vector<std::int32_t>& ids, std::size_t prompt) {
    const auto begun = session.begin(std::span(ids).first(prompt));
    std::vector<std::vector<float>> logits{begun->logits};
    for (std::size_t i = prompt; i < ids.size(); ++i)
      logits.push_back(session.extend(std::vector{GenerationSession::Next{begun->slot, ids[i]}}));
    session.end(begun->slot);
    return logits;
  }

  Context context;
  LanguageWeights weights;
  GenerationSession session;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance);
}

TEST(GenerationSession, GivesWhatTheTrainedModelGives) {
  for (const ModelSpec& spec : languages()) {
    SCOPED_TRACE(testing::Message() << to_string(spec.family) << " with " << spec.key_heads()
                                    << " heads of keys");
    Language language(spec);
    const std::vector<std::int32_t> ids = random_ids(spec, 21, 1);
    std::vector<std::vector<double>> expected;
    for (std::size_t row = 0; row < ids.size(); ++row) expected.push_back(language.trained(ids, row));
    for (const std::size_t prompt : {1UL, 2UL, 13UL, 21UL}) {
      Open open(language, {.slots = 1, .positions = 21});
      const auto logits = open.feed(ids, prompt);
      for (std::size_t i = 0; i < logits.size(); ++i)
        expect_near(log_softmax(logits[i]), expected[prompt - 1 + i], 2e-4);
    }
  }
}

// More rows than are multiplied one by one take packed matrices, and more than are read together several
// passes.
TEST(GenerationSession, ReadsLongPrompts) {
  for (ModelSpec spec : languages()) {
    spec.max_positions = 600;
    Language language(spec);
    const std::vector<std::int32_t> ids = random_ids(spec, 581, 2);
    Open open(language, {.slots = 1, .positions = 600});
    for (const std::size_t prompt : {130UL, 512UL, 513UL, 580UL}) {
      const auto first = std::span(ids).first(prompt + 1);
      const auto logits = open.feed({first.begin(), first.end()}, prompt);
      expect_near(log_softmax(logits[0]), language.trained({first.begin(), first.end() - 1}, prompt - 1),
                  2e-4);
      expect_near(log_softmax(logits[1]), language.trained({first.begin(), first.end()}, prompt), 2e-4);
    }
  }
}

TEST(GenerationSession, BeginsWithWhatAnotherSequenceHas) {
  for (const ModelSpec& spec : languages()) {
    Language language(spec);
    const std::vector<std::int32_t> ids = random_ids(spec, 20, 5);
    Open open(language, {.slots = 3, .positions = 20});
    const auto expected = open.feed(ids, 6);
    const int source = open.session.begin(std::span(ids).first(6))->slot;
    for (const std::int32_t other : {1, 2, 3})
      open.session.extend(std::vector{GenerationSession::Next{source, other}});
    const int copy = open.session.begin_as(source, 6).value();
    EXPECT_NE(copy, source) << "the first one goes on";
    open.session.end(source);
    EXPECT_EQ(open.session.begin_as(source, 6), source) << "it has ended, and is still there";
    for (std::size_t i = 6; i < ids.size(); ++i)
      for (const int slot : {source, copy})
        EXPECT_EQ(open.session.extend(std::vector{GenerationSession::Next{slot, ids[i]}}), expected[i - 5]);
    EXPECT_TRUE(open.session.begin_as(copy, 1).has_value());
    EXPECT_FALSE(open.session.begin_as(copy, 1).has_value()) << "all slots are taken";
  }
}

TEST(GenerationSession, SixteenBitsAgreeToTheirRounding) {
  for (const ModelSpec& spec : languages()) {
    Language language(spec);
    const std::vector<std::int32_t> ids = random_ids(spec, 20, 3);
    Open exact(language, {.slots = 1, .positions = 20});
    const auto expected = exact.feed(ids, 9);
    for (const auto& [precision, bound] :
         {std::pair(InferencePrecision::bf16, 3e-2), std::pair(InferencePrecision::fp16, 4e-3)}) {
      Open open(language, {.slots = 1, .positions = 20}, precision);
      const auto logits = open.feed(ids, 9);
      for (std::size_t i = 0; i < logits.size(); ++i)
        EXPECT_LT(distance(logits[i], expected[i]), bound * norm(expected[i])) << to_string(precision);
    }
  }
}

// Sequences of different lengths join and leave while others go on, with other threads, and slots are taken
// again: each gives the bits that it gives alone.
TEST(GenerationSession, SequencesDoNotDependOnEachOther) {
  for (const InferencePrecision precision :
       {InferencePrecision::fp32, InferencePrecision::bf16, InferencePrecision::fp16})
    for (const ModelSpec& spec : languages()) {
      Language language(spec);
      constexpr std::size_t kSequences = 7;
      std::vector<std::vector<std::int32_t>> ids;
      std::vector<std::vector<std::vector<float>>> expected;
      Open alone(language, {.slots = 1, .positions = 40}, precision);
      for (std::size_t s = 0; s < kSequences; ++s) {
        ids.push_back(random_ids(spec, static_cast<int>(8 + 5 * s), s));
        expected.push_back(alone.feed(ids.back(), 3 + s));
      }
      Open open(language, {.slots = 3, .positions = 39}, precision, 3);
      std::vector<std::optional<std::size_t>> in_slot(3);
      std::size_t next = 0, ended = 0;
      while (ended < kSequences) {
        for (; next < kSequences; ++next) {
          const auto begun = open.session.begin(std::span(ids[next]).first(3 + next));
          if (!begun) break;
          EXPECT_EQ(begun->logits, expected[next][0]);
          in_slot[static_cast<std::size_t>(begun->slot)] = next;
        }
        std::vector<GenerationSession::Next> going;
        for (int slot = 2; slot >= 0; --slot) {
          const auto sequence = in_slot[static_cast<std::size_t>(slot)];
          if (!sequence) continue;
          const auto length = static_cast<std::size_t>(open.session.length(slot));
          if (length < ids[*sequence].size()) {
            going.push_back({slot, ids[*sequence][length]});
            continue;
          }
          open.session.end(slot);
          in_slot[static_cast<std::size_t>(slot)].reset();
          ++ended;
        }
        const std::vector<float> logits = open.session.extend(going);
        for (std::size_t i = 0; i < going.size(); ++i) {
          const std::size_t sequence = *in_slot[static_cast<std::size_t>(going[i].slot)];
          const auto length = static_cast<std::size_t>(open.session.length(going[i].slot));
          const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(i) * spec.vocab;
          EXPECT_EQ(std::vector<float>(begin, begin + spec.vocab),
                    expected[sequence][length - (3 + sequence)])
              << "sequence " << sequence << " behind " << length << " tokens";
        }
      }
    }
}

// More than one pass takes.
TEST(GenerationSession, GoesOnWithManySequences) {
  Language language(small_language(ModelFamily::gpt));
  constexpr int kMany = 150;
  Open open(language, {.slots = kMany, .positions = 4});
  std::vector<GenerationSession::Next> next;
  std::vector<std::vector<float>> expected;
  Open alone(language, {.slots = 1, .positions = 4});
  for (int s = 0; s < kMany; ++s) {
    const std::vector<std::int32_t> ids = random_ids(language.spec, 3, static_cast<std::uint64_t>(s));
    next.push_back({open.session.begin(std::span(ids).first(2))->slot, ids[2]});
    expected.push_back(alone.feed(ids, 2)[1]);
  }
  EXPECT_FALSE(open.session.begin(std::vector{1}).has_value()) << "all slots are taken";
  const std::vector<float> logits = open.session.extend(next);
  for (std::size_t s = 0; s < kMany; ++s) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(s) * language.spec.vocab;
    EXPECT_EQ(std::vector<float>(begin, begin + language.spec.vocab), expected[s]);
  }
}

TEST(GenerationSession, RefusesModelsThatWriteNoText) {
  Context context{.threads = 1};
  Language language(small_language(ModelFamily::gpt));
  EXPECT_THROW(make_language_weights(context, language.source, InferencePrecision::int8), Failure);
  EXPECT_THROW(make_language_weights(context, random_source_model(small_spec(ModelFamily::bert)),
                                     InferencePrecision::fp32),
               BadData);
  language.source.tensors.erase("transformer.h.1.mlp.c_fc.bias");
  EXPECT_THROW(make_language_weights(context, language.source, InferencePrecision::fp32), BadData);
}

}  // namespace
}  // namespace podium::test
