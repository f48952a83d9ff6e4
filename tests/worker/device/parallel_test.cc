// Two ranks that share the device, each a thread, whose memory travels through the host: every way to spread
// a model over them trains as the CPU does alone, dropout and all.
#include "tests/worker/comm/world.h"
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/nn/small_models.h"
#include "worker/comm/staged_communicator.h"
#include "worker/formats/full_tensors.h"
#include "worker/ops/pruned.h"
#include "worker/train/compression.h"
#include "worker/train/engine.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/optimizer.h"

namespace podium::test {
namespace {

constexpr std::int64_t kBucket = 3000;  // elements: several to a model
constexpr int kMicroBatches = 2;        // of a step, over all data ranks
constexpr int kSequences = 2;           // of a micro-batch
constexpr double kRate = 1e-2;

struct Way {
  const char* name;
  ParallelLayout layout;
  bool sequence_parallel = false;
  bool distributed = false;
  ModelFamily family = ModelFamily::bert;
  bool compressed = false;  // rounds to 8 bits and prunes
};

ModelSpec spec_of(const Way& way) {
  ModelSpec spec = small_spec(way.family, 0.1);
  spec.vocab = 72;
  return spec;
}

JobSpec job_of(const Way& way) {
  JobSpec job;
  job.model = spec_of(way);
  if (!way.compressed) return job;
  job.training.quantise = QuantiseSpec{};
  job.training.sparse = Sparsity::two_of_four;
  return job;
}

// Whole weights after some steps, on the world's rank 0.
std::vector<FullTensor> train(const Way& way, Communicator& world, Context context, int steps) {
  const JobSpec job = job_of(way);
  const ModelSpec& spec = job.model;
  ParallelGroups groups = make_groups(world, way.layout);
  const ModelOptions options{.quantise = job.training.quantise, .sequence_parallel = way.sequence_parallel};
  const auto model = make_model(context, spec, options, groups);
  ParameterStore& parameters = model->parameters();
  randomise(parameters, 7);
  Engine engine(context, *model, groups);
  GradientReducer reducer(*groups.data, parameters.gradients(), kBucket, way.distributed);
  const auto optimizer = make_optimizer({.name = OptimizerKind::lamb, .lr = kRate}, parameters,
                                        reducer.shard(), groups, context);
  Compression compression(job, context, world, *model);
  compression.begin(nullptr);
  for (int step = 1; step <= steps; ++step) {
    std::vector<MicroBatch> mine;
    for (int i = groups.place.data; i < kMicroBatches; i += way.layout.data) {
      mine.push_back(random_batch(spec, kSequences, static_cast<std::uint64_t>(10 * step + i), 20));
      mine.back().first_sample = i * kSequences;
    }
    compression.prepare(engine, mine);
    engine.train(mine, {0.05F, 0.25F}, {.seed = 1, .step = step},
                 [&](std::int64_t begin, std::int64_t end) { reducer.ready(begin, end); });
    reducer.finish();
    compression.gradients_summed();
    const double norm = optimizer->gradient_norm(parameters);
    optimizer->update(parameters, step, kRate, clip_factor(norm, 1.0));
    reducer.gather(parameters.weights());
    parameters.weights_changed();
    compression.step_taken();
  }
  return gather_full(groups, parameters, parameters.memory().downloaded<float>(parameters.weights()));
}

class DeviceParallel : public OnDevice, public testing::WithParamInterface<Way> {
 protected:
  static std::vector<FullTensor> train_on_device(bool recordings, int steps) {
    std::vector<FullTensor> found;
    const int port = free_port();
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < GetParam().layout.world(); ++rank)
      ranks.emplace_back([&, rank] {
        const JobDevice device = open_device_under_test();
        Context context;
        device.lend_to(context);
        context.recordings = recordings;
        const int size = GetParam().layout.world();
        StagedCommunicator world(std::make_unique<GlooCommunicator>(world_options(rank, size, port)),
                                 context.memory);
        std::vector<FullTensor> full = train(GetParam(), world, std::move(context), steps);
        if (rank == 0) found = std::move(full);
        world.barrier();
      });
    ranks.clear();
    return found;
  }
};

// Without the two elements that are furthest off: where 8 bits are rounded to, an activation between two levels may
// fall to either, which turns a gradient near 0, and LAMB moves its element by a whole rate.
double distance_of_most(const std::vector<float>& found, const std::vector<float>& expected) {
  std::vector<float> off(found.size());
  std::ranges::transform(found, expected, off.begin(), [](float a, float b) { return std::abs(a - b); });
  std::ranges::sort(off);
  off.resize(off.size() - 2);
  return norm(off);
}

TEST_P(DeviceParallel, TrainsAsTheCpuAlone) {
  constexpr int kSteps = 2;
  Way lone = GetParam();
  lone.layout = {};
  SingleCommunicator self;
  const std::vector<FullTensor> expected = train(lone, self, cpu_context(), kSteps);
  const std::vector<FullTensor> found = train_on_device(true, kSteps);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].name, expected[i].name);
    const auto measure = GetParam().compressed ? distance_of_most : distance;
    EXPECT_LT(measure(found[i].values, expected[i].values), 2e-3 * (norm(expected[i].values) + 0.1))
        << found[i].name;
    if (!GetParam().compressed || found[i].name != "bert.encoder.layer.1.intermediate.dense.weight") continue;
    EXPECT_EQ(std::ranges::count_if(found[i].values, ops::is_pruned), std::ssize(found[i].values) / 2);
  }
}

// What is recorded is cut where gradients are announced, and finds what other stages send.
TEST_P(DeviceParallel, RecordedGivesTheSameBits) {
  constexpr int kSteps = 4;
  const std::vector<FullTensor> found = train_on_device(true, kSteps);
  const std::vector<FullTensor> expected = train_on_device(false, kSteps);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i].values, expected[i].values) << found[i].name;
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceParallel,
    testing::Values(Way{"tensor", {.tensor = 2}}, Way{"sequence", {.tensor = 2}, true},
                    Way{"pipeline", {.pipeline = 2}}, Way{"data", {.data = 2}},
                    Way{"distributed", {.data = 2}, false, true},
                    Way{"gpt_sequence", {.tensor = 2}, true, false, ModelFamily::gpt},
                    Way{"llama_sequence", {.tensor = 2}, true, false, ModelFamily::llama},
                    Way{"llama_pipeline", {.pipeline = 2}, false, false, ModelFamily::llama},
                    Way{"compressed_tensor", {.tensor = 2}, true, false, ModelFamily::bert, true},
                    Way{"compressed_distributed", {.data = 2}, false, true, ModelFamily::bert, true}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace podium::test
