// The engine over a chain of scalars that can be checked by hand: each run of layers multiplies by its
// weight, the heads multiply by the tied one and add up. Run whole in one process and cut into stages, it
// must give the same losses and gradients to the bit (all numbers are small integers).
#include "worker/train/engine.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "tests/worker/comm/processes.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/single_communicator.h"
#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr int kLayers = 8;

// Weight of the embeddings, tied to the heads, and of layer i.
float initial_weight(int layer) { return static_cast<float>(layer % 3 == 0 ? 2 : 1); }
constexpr float kEmbedding = 3;

constexpr int kPartial = 5;  // the layer whose gradient is to be summed over the tensor group

// A micro-batch is [sequences] numbers: its ids. forward: x = e * id; x = w_i * x + i; loss = sum(e * x).
class Chain final : public Model {
 public:
  Chain(const ParallelGroups& groups, int chunks) : groups_(groups), chunks_(chunks) {
    const bool ends = groups.first_stage() || groups.last_stage();
    if (ends) {
      embedding_ = add("word", !groups.first_stage(), false);
    }
    begins_.push_back(ends ? parameters_.end() : 0);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (const int layer : layers_of(chunk)) add("layer" + std::to_string(layer), false, layer == kPartial);
      begins_.push_back(parameters_.end());
    }
    parameters_.allocate(1);
    if (ends) parameters_.weights(parameters_[embedding_])[0] = kEmbedding;
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (const int layer : layers_of(chunk)) *weight(layer) = initial_weight(layer);
  }

  ParameterStore& parameters() override { return parameters_; }
  int chunks() const override { return chunks_; }
  Shape boundary_shape(const MicroBatch& batch) const override { return Shape{batch.sequences, 1}; }
  DType boundary_type() const override { return DType::f32; }

  ConstTensorView forward(int chunk, int slot, const Pass& pass, ConstTensorView input) override {
    Slot& mine = slots_[slot];
    PODIUM_CHECK(mine.layer_inputs.empty(), "the slot is free");
    std::vector<float> x;
    if (is_model_begin(groups_.place.pipeline, chunk))
      for (const std::int32_t id : pass.batch.input_ids) x.push_back(kEmbedding * static_cast<float>(id));
    else
      x.assign(input.values<float>().begin(), input.values<float>().end());
    for (const int layer : layers_of(chunk)) {
      if (pass.training) mine.layer_inputs.push_back(x);
      for (float& value : x) value = *weight(layer) * value + static_cast<float>(layer);
    }
    mine.result = x;
    if (is_end(chunk)) heads(mine, pass);
    return is_end(chunk) ? ConstTensorView() : view(mine.result);
  }

  ConstTensorView backward(int chunk, int slot, const Pass& pass, ConstTensorView doutput,
                           const GradientsReady& ready) override {
    Slot& mine = slots_.at(slot);
    std::vector<float> dx = mine.dheads;
    if (!is_end(chunk)) dx.assign(doutput.values<float>().begin(), doutput.values<float>().end());
    const std::vector<int> layers = layers_of(chunk);
    for (std::size_t i = layers.size(); i-- > 0;) {
      for (std::size_t s = 0; s < dx.size(); ++s) {
        *gradient(layers[i]) += dx[s] * mine.layer_inputs[i][s];
        dx[s] *= *weight(layers[i]);
      }
    }
    const bool begin = is_model_begin(groups_.place.pipeline, chunk);
    if (begin)
      for (std::size_t s = 0; s < dx.size(); ++s)
        embedding_gradient() += dx[s] * static_cast<float>(pass.batch.input_ids[s]);
    const auto c = static_cast<std::size_t>(chunk);
    if (ready) ready(begins_[c], begins_[c + 1]);
    if (ready && chunk == 0 && begins_[0] > 0) ready(0, begins_[0]);
    mine.layer_inputs.clear();
    mine.result = dx;
    return begin ? ConstTensorView() : view(mine.result);
  }

  void fetch_losses() override {}
  LossSums take_losses() override { return std::exchange(losses_, {}); }
  ModelMemory memory() const override { return {}; }
  double training_flops(const MicroBatch&) const override { return 0; }

  std::map<std::string, float> gradients() {
    std::map<std::string, float> all;
    for (const Parameter& p : parameters_.list()) all[p.name] = parameters_.gradients(p)[0];
    return all;
  }

 private:
  struct Slot {
    std::vector<std::vector<float>> layer_inputs;
    std::vector<float> result;
    std::vector<float> dheads;
  };

  ParameterId add(const std::string& name, bool tied_copy, bool partial) {
    Parameter parameter;
    parameter.name = name;
    parameter.shape = Shape{1};
    parameter.tied = name == "word";
    parameter.tied_copy = tied_copy;
    parameter.partial_over_tensor = partial;
    return parameters_.add(parameter);
  }

  bool is_end(int chunk) const {
    return is_model_end({groups_.layout.pipeline, chunks_}, groups_.place.pipeline, chunk);
  }
  std::vector<int> layers_of(int chunk) const {
    const int places = groups_.layout.pipeline * chunks_;
    std::vector<int> layers(static_cast<std::size_t>(kLayers / places));
    std::iota(layers.begin(), layers.end(),
              (chunk * groups_.layout.pipeline + groups_.place.pipeline) * kLayers / places);
    return layers;
  }
  static ConstTensorView view(const std::vector<float>& x) {
    return view_of(std::span<const float>(x), Shape{static_cast<std::int64_t>(x.size()), 1});
  }
  const Parameter& parameter(int layer) const { return *parameters_.find("layer" + std::to_string(layer)); }
  float* weight(int layer) { return parameters_.weights(parameter(layer)).data(); }
  float* gradient(int layer) { return parameters_.gradients(parameter(layer)).data(); }
  float& embedding_gradient() { return parameters_.gradients(parameters_[embedding_])[0]; }

  void heads(Slot& mine, const Pass& pass) {
    mine.dheads.clear();
    for (const float x : mine.result) {
      losses_[kLanguageTerm].loss += kEmbedding * x;
      ++losses_[kLanguageTerm].count;
      if (!pass.training) continue;
      embedding_gradient() += pass.scales[kLanguageTerm] * x;
      mine.dheads.push_back(pass.scales[kLanguageTerm] * kEmbedding);
    }
  }

  const ParallelGroups& groups_;
  int chunks_;
  ParameterStore parameters_;
  ParameterId embedding_;
  std::vector<std::int64_t> begins_;  // of the chunks in the flat buffer, and its end
  std::map<int, Slot> slots_;
  LossSums losses_;
};

std::vector<MicroBatch> batches(int count) {
  std::vector<MicroBatch> all;
  for (int i = 0; i < count; ++i) {
    MicroBatch batch;
    batch.sequences = i % 2 + 1;  // messages of different sizes
    batch.length = 1;
    for (int s = 0; s < batch.sequences; ++s) batch.input_ids.push_back(i + s);
    all.push_back(batch);
  }
  return all;
}

struct Result {
  double loss = 0;
  double evaluated = 0;
  std::map<std::string, float> gradients;
  Ranges ranges;
  std::int64_t end = 0;
};

Result run(Communicator& world, const ParallelLayout& layout, int chunks, int micro_batches) {
  const ParallelGroups groups = make_groups(world, layout);
  Chain chain(groups, chunks);
  const Context context;
  Engine engine(context, chain, groups);
  Result result;
  const std::vector<MicroBatch> data = batches(micro_batches);
  result.evaluated = engine.evaluate(std::span(data).first(data.size() - 1))[kLanguageTerm].loss;
  engine.train(data, {0.5F}, {},
               [&](std::int64_t begin, std::int64_t end) { result.ranges.emplace_back(begin, end); });
  result.loss = engine.take_losses()[kLanguageTerm].loss;
  result.gradients = chain.gradients();
  result.end = chain.parameters().end();
  return result;
}

Result alone(int micro_batches) {
  SingleCommunicator world;
  return run(world, {}, 1, micro_batches);
}

// The derivative by what each weight adds to the loss, from losses alone.
TEST(Engine, OneProcessGivesTheGradientsOfTheChain) {
  const Result result = alone(3);
  double loss = 0, by_embedding = 0;
  for (const MicroBatch& batch : batches(3))
    for (const std::int32_t id : batch.input_ids) {
      double x = kEmbedding * id, dx = id;
      for (int layer = 0; layer < kLayers; ++layer) {
        x = initial_weight(layer) * x + layer;
        dx *= initial_weight(layer);
      }
      loss += kEmbedding * x;
      by_embedding += x + kEmbedding * dx;
    }
  EXPECT_EQ(result.loss, loss);
  EXPECT_EQ(result.gradients.at("word"), 0.5 * by_embedding);
}

// Runs `check` with a communicator in each of `size` processes.
void expect_on_ranks(int size, const std::function<void(Communicator& world)>& check) {
  GlooOptions options;
  options.size = size;
  options.master_address = "127.0.0.1";
  options.master_port = free_port();
  options.secret = "secret";
  ForkedProcesses processes(size, [&](int rank) {
    options.rank = rank;
    GlooCommunicator world(options);
    check(world);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_THAT(processes.wait_all(), testing::Each(0));
}

TEST(Engine, TensorRanksAddUpWhatEachHasAPartOfAndOneTellsTheLosses) {
  const Result expected = alone(3);
  expect_on_ranks(2, [&](Communicator& world) {
    const Result found = run(world, {.tensor = 2}, 1, 3);
    EXPECT_EQ(found.loss, world.rank() == 0 ? expected.loss : 0);
    for (const auto& [name, value] : found.gradients) {
      const int terms = name == "layer" + std::to_string(kPartial) ? 2 : 1;
      EXPECT_EQ(value, terms * expected.gradients.at(name)) << name;
    }
  });
}

struct Case {
  int stages;
  int chunks;
  int micro_batches;
};

class OnStages : public testing::TestWithParam<Case> {};

TEST_P(OnStages, LossesAndGradientsAreThoseOfOneProcess) {
  const auto [stages, chunks, micro_batches] = GetParam();
  const Result expected = alone(micro_batches);
  expect_on_ranks(stages,
                  [&, stages = stages, chunks = chunks, micro_batches = micro_batches](Communicator& world) {
                    const Result found = run(world, {.pipeline = stages}, chunks, micro_batches);
                    const bool last = world.rank() == stages - 1;
                    EXPECT_EQ(found.loss, last ? expected.loss : 0);
                    EXPECT_EQ(found.evaluated, last ? expected.evaluated : 0);
                    EXPECT_EQ(found.gradients.size(), kLayers / stages + (world.rank() == 0 || last ? 1 : 0));
                    for (const auto& [name, value] : found.gradients)
                      EXPECT_EQ(value, expected.gradients.at(name)) << name;
                    std::int64_t begin = found.end;
                    for (const auto& range : found.ranges) {
                      EXPECT_EQ(range.second, begin);
                      begin = range.first;
                    }
                    EXPECT_EQ(begin, 0);
                  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnStages,
                         testing::Values(Case{2, 1, 1}, Case{2, 1, 5}, Case{4, 1, 3}, Case{4, 1, 9},
                                         Case{2, 2, 2}, Case{2, 4, 6}, Case{4, 2, 8}));

}  // namespace
}  // namespace podium
