// Text generation on the device against the CPU.
#include "tests/worker/device/counting_stream.h"
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/generate/small_language.h"

namespace podium::test {
namespace {

class DeviceGeneration : public OnDevice {
 protected:
  // Two sequences that begin after one another and go on together: all logits, in the order they come.
  static std::vector<float> run(Context context, const Language& language, InferencePrecision precision) {
    LanguageWeights weights = make_language_weights(context, language.source, precision);
    GenerationSession session(context, weights, {.slots = 2, .positions = kLength});
    std::vector<float> logits;
    const auto add = [&](const std::vector<float>& more) {
      logits.insert(logits.end(), more.begin(), more.end());
    };
    const std::vector<std::int32_t> first = random_ids(language.spec, 9, 1),
                                    second = random_ids(language.spec, 20, 2);
    add(session.begin(std::span(first).first(4))->logits);
    add(session.extend(std::vector<GenerationSession::Next>{{0, first[4]}}));
    add(session.begin(std::span(second).first(15))->logits);
    for (std::size_t i = 0; i < 4; ++i)
      add(session.extend(std::vector<GenerationSession::Next>{{1, second[15 + i]}, {0, first[5 + i]}}));
    return logits;
  }
  static std::vector<ModelSpec> languages() {
    return {small_language(ModelFamily::gpt), small_language(ModelFamily::llama)};
  }
};

TEST_F(DeviceGeneration, GivesWhatTheCpuGives) {
  for (const ModelSpec& spec : languages()) {
    const Language language(spec);
    for (const auto& [precision, tolerance] :
         {std::pair(InferencePrecision::fp32, 1e-4), std::pair(InferencePrecision::fp16, 4e-3),
          std::pair(InferencePrecision::bf16, 3e-2)}) {
      SCOPED_TRACE(testing::Message() << to_string(spec.family) << ' ' << to_string(precision));
      const std::vector<float> cpu = run(cpu_context(), language, precision),
                               device = run(device_context(), language, precision);
      ASSERT_EQ(device.size(), cpu.size());
      EXPECT_LT(distance(device, cpu), tolerance * norm(cpu));
      EXPECT_EQ(device, run(device_context(), language, precision)) << "the same bits in every run";
    }
  }
}

TEST_F(DeviceGeneration, RecordsAStepOnceAndReplaysIt) {
  const Language language(small_language(ModelFamily::llama));
  CountingStream stream(*device_.stream);
  Context counted = device_context(), eager = device_context();
  counted.memory.stream = &stream;
  eager.recordings = false;
  EXPECT_EQ(run(std::move(counted), language, InferencePrecision::fp16),
            run(std::move(eager), language, InferencePrecision::fp16));
  EXPECT_EQ(stream.counts().recordings, 1) << "of two sequences; one alone went on once";
  EXPECT_EQ(stream.counts().replays, 3);
}

}  // namespace
}  // namespace podium::test
