// Texts of requests that come and go on the engine's thread: what each says does not depend on the others.
#include "worker/serve/generation_engine.h"

#include <gmock/gmock.h>

#include <future>

#include "tests/worker/generate/small_language.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/generate/generator.h"

namespace podium::test {
namespace {

using Kind = GenerationEnded::Kind;
using std::chrono::seconds;

constexpr int kPositions = 40;

// A text as it comes.
struct Coming {
  std::size_t number = 0;
  std::shared_ptr<std::string> text = std::make_shared<std::string>();
  std::future<GenerationEnded> ended;
};

class GenerationEngineTest : public testing::Test {
 protected:
  static ModelSpec spec() {
    ModelSpec spec = small_language(ModelFamily::gpt);
    spec.vocab = 270;
    return spec;
  }

  GenerationTask task(int i, std::chrono::milliseconds timeout = seconds(600)) const {
    GenerationTask made{
        .request = {random_ids(small_language(ModelFamily::gpt), 1 + i % 5, static_cast<std::uint64_t>(i)), 0,
                    4 + i % 7},
        .rule = {.seed = static_cast<std::uint64_t>(i)},
        .arrived = ServeTime::clock::now()};
    made.deadline = made.arrived + timeout;
    return made;
  }

  std::string alone(const GenerationTask& task) {
    GenerationSession session(context_, weights_, {.slots = 1, .positions = kPositions});
    std::string text;
    generate(
        session, tokenizer_, std::span(&task.request, 1), task.rule,
        {[&](std::size_t, std::string_view piece) { text += piece; }, [](std::size_t, const Generation&) {}});
    return text;
  }

  static std::optional<Coming> submit(GenerationEngine& engine, GenerationTask task) {
    Coming coming;
    const auto ended = std::make_shared<std::promise<GenerationEnded>>();
    coming.ended = ended->get_future();
    task.on_text = [text = coming.text](std::string piece) { *text += piece; };
    task.on_end = [ended](GenerationEnded end) { ended->set_value(std::move(end)); };
    std::optional<QueueRoom> room = engine.reserve();
    if (!room) return std::nullopt;
    coming.number = engine.submit(std::move(task), std::move(*room));
    return coming;
  }

  Language language_{spec()};
  BpeTokenizer tokenizer_{byte_vocabulary({})};
  Context context_{.threads = 1};
  LanguageWeights weights_ = make_language_weights(context_, language_.source, InferencePrecision::fp32);
  GenerationSession session_{context_, weights_, {.slots = 3, .positions = kPositions}};
  ServeMeter meter_;
};

TEST_F(GenerationEngineTest, TextsThatCrossAreWhatEachIsAlone) {
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(alone(task(i)));
  GenerationEngine engine(session_, tokenizer_, 100, meter_);
  std::vector<Coming> coming;
  for (int i = 0; i < 20; ++i) coming.push_back(*submit(engine, task(i)));
  for (int i = 0; i < 20; ++i) {
    const GenerationEnded ended = coming[static_cast<std::size_t>(i)].ended.get();
    EXPECT_EQ(ended.kind, Kind::done);
    EXPECT_EQ(std::ssize(ended.generation.ids), 4 + i % 7);
    EXPECT_EQ(*coming[static_cast<std::size_t>(i)].text, expected[static_cast<std::size_t>(i)]) << i;
  }
  const ServeMeter::Figures figures = meter_.figures();
  EXPECT_EQ(figures.waited.count, 20U);
  EXPECT_GT(figures.batch_sequences.sum, figures.batch_sequences.count * 1.5) << "they went on together";
}

TEST_F(GenerationEngineTest, AFullQueueTakesNoMore) {
  GenerationEngine engine(session_, tokenizer_, 1, meter_);
  std::vector<Coming> taken;
  bool full = false;
  for (int i = 0; i < 1000 && !full; ++i) {
    auto coming = submit(engine, task(6));
    full = !coming.has_value();
    if (coming) taken.push_back(std::move(*coming));
  }
  EXPECT_TRUE(full);
  for (Coming& coming : taken) EXPECT_EQ(coming.ended.get().kind, Kind::done);
  std::optional<QueueRoom> room = engine.reserve();
  EXPECT_TRUE(room);
  EXPECT_FALSE(engine.reserve()) << "there is room for one";
  room.reset();
  EXPECT_TRUE(engine.reserve());
}

TEST_F(GenerationEngineTest, TheLateEndWithoutComputing) {
  GenerationEngine engine(session_, tokenizer_, 100, meter_);
  auto late = submit(engine, task(1, std::chrono::milliseconds(0)));
  EXPECT_EQ(late->ended.get().kind, Kind::expired);
  EXPECT_EQ(*late->text, "");
  EXPECT_EQ(meter_.figures().waited.count, 0U);
}

TEST_F(GenerationEngineTest, WhatIsCancelledLeavesItsSlot) {
  const std::string expected = alone(task(2));
  GenerationEngine engine(session_, tokenizer_, 100, meter_);
  for (int round = 0; round < 20; ++round) {
    GenerationTask endless = task(3);
    endless.request.max_tokens = kPositions - 5;
    std::vector<Coming> cancelled;
    for (int i = 0; i < 5; ++i) cancelled.push_back(*submit(engine, endless));
    for (const Coming& coming : cancelled) engine.cancel(coming.number);
    auto other = submit(engine, task(2));
    EXPECT_EQ(other->ended.get().kind, Kind::done);
    EXPECT_EQ(*other->text, expected);
  }
}

// Of its positions one alone has no numbers.
TEST_F(GenerationEngineTest, ATextWithoutNumbersFailsAlone) {
  constexpr std::int32_t kDamaged = 20;
  int damaged = 0;
  for (auto& [name, tensor] : language_.source.tensors) {
    if (name.find("wpe") == std::string::npos) continue;
    const std::size_t columns = tensor.values.size() / static_cast<std::size_t>(spec().max_positions);
    std::fill_n(tensor.values.begin() + static_cast<std::ptrdiff_t>(kDamaged * columns), columns, NAN);
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  LanguageWeights broken = make_language_weights(context_, language_.source, InferencePrecision::fp32);
  GenerationSession session(context_, broken, {.slots = 3, .positions = kPositions});
  GenerationEngine engine(session, tokenizer_, 100, meter_);
  GenerationTask long_prompt = task(1), long_text = task(2);
  long_prompt.request.prompt = random_ids(small_language(ModelFamily::gpt), kDamaged + 1, 1);
  long_text.request.max_tokens = kPositions - 5;
  for (int round = 0; round < 5; ++round) {
    Coming at_its_begin = *submit(engine, long_prompt), in_a_step = *submit(engine, long_text);
    std::vector<Coming> good;
    for (int i = 0; i < 4; ++i) good.push_back(*submit(engine, task(i)));
    EXPECT_EQ(at_its_begin.ended.get().kind, Kind::failed);
    EXPECT_EQ(in_a_step.ended.get().kind, Kind::failed);
    EXPECT_NE(*in_a_step.text, "");
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(good[static_cast<std::size_t>(i)].ended.get().kind, Kind::done);
      EXPECT_EQ(*good[static_cast<std::size_t>(i)].text, alone(task(i)));
    }
  }
}

TEST_F(GenerationEngineTest, APromptThatIsReadAlreadyIsNotCountedAgain) {
  GenerationEngine engine(session_, tokenizer_, 100, meter_);
  GenerationTask one = task(4);  // of five tokens
  one.request.max_tokens = 1;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(submit(engine, one)->ended.get().kind, Kind::done);
  EXPECT_EQ(meter_.figures().batch_tokens.sum, 5);
  EXPECT_EQ(meter_.figures().waited.count, 3U);
}

TEST_F(GenerationEngineTest, AModelWithoutNumbersFailsItsTextsAndGoesOn) {
  for (auto& [name, tensor] : language_.source.tensors)
    for (float& value : tensor.values) value = std::nanf("");
  LanguageWeights broken = make_language_weights(context_, language_.source, InferencePrecision::fp32);
  GenerationSession session(context_, broken, {.slots = 2, .positions = kPositions});
  GenerationEngine engine(session, tokenizer_, 100, meter_);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(submit(engine, task(i))->ended.get().kind, Kind::failed);
}

}  // namespace
}  // namespace podium::test
