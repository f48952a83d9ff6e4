// A teacher and its student in one context on the device, where both record their passes, against the CPU:
// losses and gradients of several batches.
#include "worker/train/teacher.h"

#include "tests/worker/device/device_under_test.h"
#include "tests/worker/nn/small_models.h"
#include "worker/tasks/squad/span_head.h"

namespace podium::test {
namespace {

constexpr int kTokens = 20;

class DeviceTeacher : public OnDevice {
 protected:
  static MicroBatch batch(std::uint64_t seed) {
    MicroBatch made = random_batch(small_spec(ModelFamily::bert), 2, seed, kTokens);
    made.targets = {sequence_targets({0, 5}, kTokens), sequence_targets({0, 9}, kTokens)};
    return made;
  }
  static Outcome taught(Context with) {
    const ModelSpec model = small_spec(ModelFamily::bert, 0.1);
    const HeadPlan head = span_head(DistillSpec{.temperature = 2});
    LoneModel student(model, {.head = head}, std::move(with));
    TeacherModel teacher(student.context, {}, model, head, true, [](ParameterStore& parameters) {
      randomise(parameters, 99);
      return FirstWeights();
    });
    Outcome outcome;
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      MicroBatch one = batch(seed);
      teacher.score({&one, 1});
      const Pass pass{one, kScales, kKey, true};
      outcome.losses += forward(*student.model, pass);
      backward(*student.model, pass);
    }
    outcome.gradients = gradients_of(*student.model);
    return outcome;
  }
};

TEST_F(DeviceTeacher, TeachesAsOnTheCpu) {
  const Outcome cpu = taught(cpu_context()), device = taught(device_context());
  for (const std::size_t term : {kFirstTerm, kTaughtFirstTerm, kTaughtLastTerm}) {
    EXPECT_GT(cpu.losses[term].loss, 0);
    EXPECT_NEAR(device.losses[term].loss, cpu.losses[term].loss, 2e-4 * cpu.losses[term].loss);
    EXPECT_EQ(device.losses[term].count, 8);
  }
  EXPECT_LT(worst_error(device.gradients, cpu.gradients), 2e-4);
}

}  // namespace
}  // namespace podium::test
