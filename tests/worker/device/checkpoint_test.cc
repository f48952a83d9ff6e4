// What leaves a device's memory and comes back: checkpoints, also of the CPU, and Hugging Face folders.
#include "tests/temp_folder.h"
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/device/trainee.h"
#include "worker/formats/full_tensors.h"
#include "worker/formats/hugging_face.h"

namespace podium::test {
namespace {

constexpr ModelOptions kOptions{.precision = Precision::bf16};

class DeviceCheckpoint : public OnDevice {
 protected:
  static Trainee make_trainee(Context context, const ModelOptions& options = kOptions,
                              ModelFamily family = ModelFamily::bert) {
    return Trainee(family, options, OptimizerKind::adamw, std::move(context));
  }
  CheckpointStore open_store() { return CheckpointStore({folder_.path(), true}, 3, world_, {}); }

  // Two steps, saved while two more are trained; the weights in the end.
  std::vector<float> train_and_save(Trainee& trainee) {
    CheckpointStore store = open_store();
    trainee.step();
    trainee.step();
    store.begin_save(trainee.state(), trainee.tensors());
    trainee.before_update = [&store] { return store.before_update(); };
    trainee.step();
    trainee.step();
    EXPECT_EQ(store.finish().size(), 1U);
    return trainee.weights();
  }
  void load(Trainee& trainee) {
    std::vector<std::string> problems;
    const auto state = open_store().load_newest({}, {}, trainee.tensors(), problems);
    ASSERT_TRUE(state.has_value());
    trainee.restore(*state);
  }

  TempFolder folder_;
  SingleCommunicator world_;
};

struct Resumed {
  const char* name;
  bool fp8, rounds_stochastically;
  ModelFamily family = ModelFamily::bert;
};

class DeviceResume : public DeviceCheckpoint, public testing::WithParamInterface<Resumed> {};

TEST_P(DeviceResume, GoesOnToTheBit) {
  const ModelOptions options{.precision = Precision::bf16, .fp8 = GetParam().fp8};
  Trainee first = make_trainee(device_context(), options, GetParam().family);
  Trainee later = make_trainee(device_context(), options, GetParam().family);
  for (Trainee* const trainee : {&first, &later})
    trainee->rounds_stochastically = GetParam().rounds_stochastically;
  const std::vector<float> weights = train_and_save(first);
  load(later);
  later.step();
  later.step();
  EXPECT_EQ(later.weights(), weights);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceResume,
                         testing::Values(Resumed{"sixteen_bits", false, false}, Resumed{"fp8", true, false},
                                         Resumed{"stochastic_rounding", false, true},
                                         Resumed{"llama_fp8_stochastic_rounding", true, true,
                                                 ModelFamily::llama}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(DeviceCheckpoint, OfTheCpuGoesOnOnTheDevice) {
  Trainee cpu = make_trainee(cpu_context()), device = make_trainee(device_context());
  const std::vector<float> begin = cpu.weights(), end = train_and_save(cpu);
  load(device);
  device.step();
  device.step();
  EXPECT_LT(distance(device.weights(), end), 0.2 * distance(end, begin));
}

TEST_F(DeviceCheckpoint, HuggingFaceFoldersCarryTheSameWeights) {
  for (const ModelFamily family : {ModelFamily::bert, ModelFamily::llama}) {
    Trainee source = make_trainee(device_context(), kOptions, family);
    Trainee target = make_trainee(device_context(), kOptions, family);
    source.step();
    const std::vector<float> weights = source.weights();
    const std::vector<FullTensor> full = gather_full(source.lone().groups, source.parameters(), weights);
    const auto folder = folder_.path() / to_string(family);
    write_hugging_face(folder, source.spec(), source_of(full), std::int64_t{1} << 30);
    ASSERT_NE(target.weights(), weights);
    EXPECT_TRUE(load_hugging_face(folder, target.spec(), target.parameters()).empty());
    EXPECT_EQ(target.weights(), weights);
  }
}

}  // namespace
}  // namespace podium::test
