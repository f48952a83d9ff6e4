// A model cut over tensor, pipeline and data ranks takes the same optimizer steps as in one piece: the ranks
// are real, one thread each, and talk over Gloo.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"
#include "worker/tensor/random.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

constexpr int kSteps = 6;
constexpr double kRate = 0.02;
constexpr double kClip = 1.5;
constexpr int kBoth = -1;  // stages

struct Declaration {
  std::string name;
  Shape shape;  // of the whole
  int axis;     // sliced over the tensor ranks; -1: replicated
  bool decay;
  int stage;  // of two
};

// Word embeddings at both ends; column- and row-parallel, replicated and undecayed parameters.
const std::vector<Declaration>& declarations() {
  static const std::vector<Declaration> all = [] {
    std::vector<Declaration> list{{"embeddings", {120, 48}, 0, true, kBoth}};
    for (const int stage : {0, 1}) {
      const std::string prefix = "layer." + std::to_string(stage);
      list.push_back({prefix + ".column.weight", {96, 48}, 0, true, stage});
      list.push_back({prefix + ".column.bias", {96}, 0, false, stage});
      list.push_back({prefix + ".row.weight", {48, 96}, 1, true, stage});
      list.push_back({prefix + ".row.bias", {48}, -1, false, stage});
      list.push_back({prefix + ".dense.weight", {48, 40}, -1, true, stage});
    }
    return list;
  }();
  return all;
}

using Tensors = std::map<std::string, std::vector<float>>;

Tensors draw(std::uint64_t stream, double deviation) {
  Tensors tensors;
  Random random(11, stream);
  for (const Declaration& d : declarations()) {
    std::vector<float>& values = tensors[d.name];
    for (std::int64_t i = 0; i < d.shape.size(); ++i)
      values.push_back(static_cast<float>(random.normal() * deviation));
  }
  return tensors;
}

// Where element `i` of what is held lies in the whole.
std::size_t index_in_whole(const Parameter& p, std::int64_t i) {
  if (p.slice.axis == 0) return static_cast<std::size_t>(i + p.slice.begin * (p.shape.size() / p.shape[0]));
  if (p.slice.axis == 1)
    return static_cast<std::size_t>(i / p.shape[1] * p.slice.full + p.slice.begin + i % p.shape[1]);
  return static_cast<std::size_t>(i);
}

// What one rank holds of the model.
class Part {
 public:
  Part(const ParallelGroups& groups) {
    const auto [tensor, pipeline, data] = groups.place;
    for (const Declaration& d : declarations()) {
      const int stage = groups.layout.pipeline == 1 ? 0 : pipeline;
      if (d.stage != kBoth && groups.layout.pipeline > 1 && d.stage != stage) continue;
      Parameter parameter{.name = d.name, .shape = d.shape, .decay = d.decay};
      if (groups.layout.tensor > 1 && d.axis >= 0) {
        const std::int64_t extent = d.shape[d.axis] / groups.layout.tensor;
        parameter.slice = {d.axis, tensor * extent, d.shape[d.axis]};
        if (d.shape.rank() == 1)
          parameter.shape = {extent};
        else
          parameter.shape = d.axis == 0 ? Shape{extent, d.shape[1]} : Shape{d.shape[0], extent};
      }
      parameter.tied = d.stage == kBoth;
      parameter.tied_copy = parameter.tied && stage > 0;
      store_.add(parameter);
    }
    store_.allocate(16 * groups.layout.data);
  }

  ParameterStore& store() { return store_; }

  void set_weights(const Tensors& whole) {
    for (const Parameter& p : store_.list())
      for (std::int64_t i = 0; i < p.size(); ++i)
        store_.weights(p)[static_cast<std::size_t>(i)] = whole.at(p.name)[index_in_whole(p, i)];
  }
  void add_gradients(const Tensors& whole, float share) {
    for (const Parameter& p : store_.list())
      for (std::int64_t i = 0; i < p.size(); ++i)
        store_.gradients(p)[static_cast<std::size_t>(i)] += share * whole.at(p.name)[index_in_whole(p, i)];
  }
  double largest_difference(const Tensors& whole) {
    double largest = 0;
    for (const Parameter& p : store_.list())
      for (std::int64_t i = 0; i < p.size(); ++i) {
        const float weight = store_.weights(p)[static_cast<std::size_t>(i)];
        largest = std::max(largest, std::abs(static_cast<double>(weight) -
                                             static_cast<double>(whole.at(p.name)[index_in_whole(p, i)])));
      }
    return largest;
  }
  std::vector<float> embeddings() {
    const std::span<const float> values = store_.weights(store_.list()[0]);
    return {values.begin(), values.end()};
  }

 private:
  ParameterStore store_;
};

struct Outcome {
  double difference = 0;
  std::vector<double> norms;
  std::vector<float> embeddings;
};

// Trains this rank's part on its share of the gradients; compares with `expected` where that is given.
Outcome train(Part& part, const ParallelGroups& groups, OptimizerKind kind, bool distributed) {
  OptimizerSpec spec;
  spec.name = kind;
  spec.weight_decay = 0.1;
  ParameterStore& store = part.store();
  GradientReducer reducer(*groups.data, store.gradients(), 3000, distributed);
  Context context;
  const auto optimizer = make_optimizer(spec, store, reducer.shard(), groups, context);
  part.set_weights(draw(0, 0.5));
  Outcome outcome;
  for (int step = 1; step <= kSteps; ++step) {
    // Shares that differ from rank to rank and add up to one.
    const int ranks = groups.layout.data;
    const float share = ranks == 1               ? 1.0F
                        : groups.place.data == 0 ? 1.75F
                                                 : -0.75F / static_cast<float>(ranks - 1);
    part.add_gradients(draw(static_cast<std::uint64_t>(step), 0.3), share);
    reducer.ready(0, store.end());
    reducer.finish();
    outcome.norms.push_back(optimizer->gradient_norm(store));
    optimizer->update(store, step, kRate, clip_factor(outcome.norms.back(), kClip));
    reducer.gather(store.weights());
    for (const float gradient : store.gradients()) EXPECT_EQ(gradient, 0.0F);
  }
  outcome.embeddings = part.embeddings();
  return outcome;
}

struct Case {
  ParallelLayout layout;
  bool distributed = false;
  OptimizerKind kind = OptimizerKind::adamw;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << "tensor " << c.layout.tensor << ", pipeline " << c.layout.pipeline << ", data " << c.layout.data
       << (c.distributed ? ", distributed " : " ") << to_string(c.kind);
}

class OptimizerOn : public testing::TestWithParam<Case> {};

TEST_P(OptimizerOn, ManyRanksStepsAsInOnePiece) {
  const Case& c = GetParam();
  SingleCommunicator alone;
  const ParallelGroups one = make_groups(alone, {});
  Part whole(one);
  const Outcome expected = train(whole, one, c.kind, false);
  Tensors weights;
  for (const Parameter& p : whole.store().list())
    weights[p.name].assign(whole.store().weights(p).begin(), whole.store().weights(p).end());

  std::mutex mutex;
  std::map<int, std::vector<float>> embeddings;  // by tensor rank
  run_threads(c.layout.world(), [&](Communicator& world) {
    const ParallelGroups groups = make_groups(world, c.layout);
    Part part(groups);
    const Outcome outcome = train(part, groups, c.kind, c.distributed);
    const std::lock_guard lock(mutex);
    EXPECT_LT(part.largest_difference(weights), 3e-6);
    ASSERT_EQ(outcome.norms.size(), expected.norms.size());
    for (std::size_t step = 0; step < outcome.norms.size(); ++step)
      EXPECT_NEAR(outcome.norms[step], expected.norms[step], 1e-6 * expected.norms[step]);
    const auto& first = embeddings.emplace(groups.place.tensor, outcome.embeddings).first->second;
    EXPECT_EQ(first, outcome.embeddings) << "copies must not drift apart by a bit";
  });
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::lamb})
    for (const ParallelLayout& layout :
         {ParallelLayout{2, 1, 1}, ParallelLayout{1, 2, 1}, ParallelLayout{1, 1, 2}, ParallelLayout{2, 2, 2},
          ParallelLayout{1, 2, 3}})
      for (const bool distributed : {false, true})
        if (layout.data > 1 || !distributed) all.push_back({layout, distributed, kind});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Layouts, OptimizerOn, testing::ValuesIn(cases()));

}  // namespace
}  // namespace podium
