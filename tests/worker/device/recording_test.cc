// Recorded work against the same work launched one by one: the same bits, whatever changes from one
// micro-batch or step to the next; recorded once for each shape, and again where memory has moved.
#include "tests/worker/device/counting_stream.h"
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/device/trainee.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {
namespace {

constexpr int kPieces = 1 + 2 + 1;  // of a pass: forward; backward of two layers and of the embeddings

class DeviceRecordings : public OnDevice, public testing::WithParamInterface<ModelFamily> {
 protected:
  ModelSpec spec() const {
    ModelSpec small = small_spec(GetParam(), 0.1);
    small.vocab = 72;
    return small;
  }
  Context eager_context() const {
    Context context = device_context();
    context.recordings = false;
    return context;
  }
  Context counted_context(CountingStream& stream) const {
    Context context = device_context();
    context.memory.stream = &stream;
    return context;
  }
  // `index` decides on all that may differ within a shape.
  MicroBatch batch(int index, int sequences = 2) const {
    MicroBatch made = random_batch(spec(), sequences, static_cast<std::uint64_t>(index), 20);
    made.first_sample = 2 * index;
    return made;
  }

  struct Found {
    std::vector<double> losses;
    std::vector<Gradients> gradients;
  };
  // Gradients add up from one to the next.
  static Found pass_over(LoneModel& lone, const std::vector<MicroBatch>& batches) {
    Found found;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto scale = 0.1F * static_cast<float>(i + 1);
      const DropoutKey key{.seed = 3, .step = static_cast<std::int64_t>(i / 2)};
      const Pass pass{batches[i], {scale, 2 * scale}, key, true};
      const LossSums losses = forward(*lone.model, pass);
      backward(*lone.model, pass);
      found.losses.push_back(losses[kLanguageTerm].loss + losses[kNextSentenceTerm].loss);
      found.gradients.push_back(gradients_of(*lone.model));
    }
    return found;
  }
  void expect_same_bits(const ModelOptions& options) {
    std::vector<MicroBatch> batches;
    for (int i = 0; i < 5; ++i) batches.push_back(batch(i));
    CountingStream stream(*device_.stream);
    LoneModel recorded(spec(), options, counted_context(stream)), eager(spec(), options, eager_context());
    for (const LoneModel* const lone : {&recorded, &eager}) set_ranges(*lone->model, spec());
    const Found found = pass_over(recorded, batches), expected = pass_over(eager, batches);
    EXPECT_EQ(found.losses, expected.losses);
    EXPECT_EQ(found.gradients, expected.gradients);
    EXPECT_GE(stream.counts().replays, 2 * kPieces) << "most passes were replayed";
  }
};

TEST_P(DeviceRecordings, GiveTheSameBits) { expect_same_bits({}); }

TEST_P(DeviceRecordings, AlsoIn16Bits) { expect_same_bits({.precision = Precision::bf16}); }

TEST_P(DeviceRecordings, AlsoInFp8) { expect_same_bits({.precision = Precision::bf16, .fp8 = true}); }

TEST_P(DeviceRecordings, AlsoRoundedTo8Bits) {
  if (GetParam() == ModelFamily::bert)
    expect_same_bits({.precision = Precision::bf16, .quantise = QuantiseSpec{}});
}

TEST_P(DeviceRecordings, AlsoRecomputed) { expect_same_bits({.recompute = Recompute::full}); }
TEST_P(DeviceRecordings, AlsoSomeLayersRecomputed) {
  expect_same_bits({.recompute = Recompute::full, .recompute_layers = 1});
}

TEST_P(DeviceRecordings, AlsoWithoutPadding) { expect_same_bits({.unpadded = true}); }

TEST_P(DeviceRecordings, AreMadeOnceForAShape) {
  CountingStream stream(*device_.stream);
  LoneModel lone(spec(), {}, counted_context(stream));
  const std::vector<MicroBatch> alike(4, batch(1));
  pass_over(lone, alike);
  EXPECT_EQ(stream.counts().recordings, kPieces) << "at the second pass";
  EXPECT_EQ(stream.counts().replays, 3 * kPieces);
  forward(*lone.model, {alike.front(), {}, {}, false});
  EXPECT_EQ(stream.counts().replays, 3 * kPieces) << "evaluation is other work";
}

TEST_P(DeviceRecordings, AreMadeAgainWhereMemoryHasMoved) {
  CountingStream stream(*device_.stream);
  LoneModel recorded(spec(), {}, counted_context(stream)), eager(spec(), {}, eager_context());
  const std::vector<MicroBatch> small(3, batch(1)), large(2, batch(2, 24));
  std::vector<MicroBatch> all = small;
  all.insert(all.end(), large.begin(), large.end());
  all.insert(all.end(), small.begin(), small.end());
  const Found found = pass_over(recorded, all), expected = pass_over(eager, all);
  EXPECT_EQ(found.losses, expected.losses);
  EXPECT_EQ(found.gradients, expected.gradients);
  EXPECT_EQ(stream.counts().recordings, 3 * kPieces) << "small, large, and small elsewhere";
}

TEST_P(DeviceRecordings, AreNotMadeWhereTheyAreTurnedOff) {
  CountingStream stream(*device_.stream);
  Context context = counted_context(stream);
  context.recordings = false;
  LoneModel lone(spec(), {}, std::move(context));
  pass_over(lone, std::vector<MicroBatch>(3, batch(1)));
  EXPECT_EQ(stream.counts().recordings, 0);
}

// Steps of new weights, of which the first overflow in fp16 and are skipped.
TEST_P(DeviceRecordings, TrainToTheSameBits) {
  const auto kind = GetParam() == ModelFamily::bert ? OptimizerKind::lamb : OptimizerKind::adamw;
  Trainee recorded(GetParam(), Precision::fp16, kind, device_context());
  Trainee eager(GetParam(), Precision::fp16, kind, eager_context());
  CheckpointState begin;
  begin.loss_scaler.scale = GetParam() == ModelFamily::llama ? 1 << 19 : 1 << 21;  // its gradients are larger
  recorded.restore(begin);
  eager.restore(begin);
  const std::vector<float> first = recorded.weights();
  for (int step = 0; step < 6; ++step) EXPECT_EQ(recorded.step(), eager.step()) << step;
  EXPECT_EQ(recorded.weights(), eager.weights());
  EXPECT_NE(recorded.weights(), first);
  EXPECT_GT(recorded.state().loss_scaler.skipped, 0);
  EXPECT_LT(recorded.state().loss_scaler.skipped, 5);
}

TEST_P(DeviceRecordings, AStepWaitsOnce) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::lamb}) {
    CountingStream stream(*device_.stream);
    Trainee trainee(GetParam(), Precision::bf16, kind, counted_context(stream));
    for (int step = 0; step < 3; ++step) trainee.step();
    const int before = stream.counts().waits;
    trainee.step();
    EXPECT_EQ(stream.counts().waits, before + 1);
  }
}

TEST_F(OnDevice, ARecordingFailsWhereItAllocates) {
  device_.stream->begin_recording();
  EXPECT_THROW(device_.device->allocate(1 << 20), std::exception);
  EXPECT_THROW(device_.stream->end_recording(), std::exception);
  device_.stream->synchronise();  // and all goes on
}

INSTANTIATE_TEST_SUITE_P(All, DeviceRecordings,
                         testing::Values(ModelFamily::bert, ModelFamily::gpt, ModelFamily::llama),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
