// Whole optimizer steps, clipping included, against PyTorch's AdamW and against NVIDIA's LAMB written out in
// PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/tensor/random.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

constexpr int kSteps = 25;

std::string raw_bytes(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// As in BERT: matrices decay, biases and norms do not; one matrix is all zero, so that it has no trust ratio.
void declare(ParameterStore& store) {
  store.add("embeddings", {211, 64}, Initializer::normal, true);
  store.add("dense.weight", {64, 96}, Initializer::normal, true);
  store.add("dense.bias", {96}, Initializer::zeros, false);
  store.add("norm.weight", {64}, Initializer::ones, false);
  store.add("zero.weight", {5, 7}, Initializer::zeros, true);
  store.allocate();
  store.initialise(3, 0.02);
}

// Large in some steps, so that they are clipped, and small in others.
void draw_gradients(ParameterStore& store, int step) {
  Random random(5, static_cast<std::uint64_t>(step));
  const double deviation = step % 3 == 0 ? 0.1 : 1e-3;
  for (const Parameter& p : store.list())
    for (float& gradient : store.gradients(p)) gradient = static_cast<float>(random.normal() * deviation);
}

struct Case {
  std::string name;
  OptimizerKind kind;
  double weight_decay;
};

class OptimizerReference : public testing::TestWithParam<Case> {};

TEST_P(OptimizerReference, StepsAsPyTorchDoes) {
  OptimizerSpec spec;
  spec.name = GetParam().kind;
  spec.weight_decay = GetParam().weight_decay;
  const TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    write_file_atomic(folder.path() / name, bytes);
  };

  ParameterStore store;
  declare(store);
  write("weights.f32", raw_bytes(store.weights()));
  nlohmann::json description{{"optimizer",
                              {{"name", to_string(spec.name)},
                               {"weight_decay", spec.weight_decay},
                               {"beta1", spec.beta1},
                               {"beta2", spec.beta2},
                               {"epsilon", spec.epsilon},
                               {"clip", spec.clip}}}};
  for (const Parameter& p : store.list()) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < p.shape.rank(); ++axis) shape.push_back(p.shape[axis]);
    description["parameters"].push_back({p.offset, shape, p.decay});
  }
  Context context{.threads = 2};
  const auto optimizer = make_optimizer(spec, store, context);
  int clipped = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double rate = 1e-3 * (step + 1);
    description["rates"].push_back(rate);
    draw_gradients(store, step);
    write("gradients-" + std::to_string(step) + ".f32", raw_bytes(store.gradients()));
    const double factor = clip_factor(optimizer->gradient_norm(store), spec.clip);
    clipped += factor < 1 ? 1 : 0;
    optimizer->update(store, step + 1, rate, factor);
  }
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, kSteps);
  write("case.json", description.dump());

  const std::string command = "/usr/bin/python3 " +
                              test::source_path("tests/worker/train/optimizer_reference.py ") +
                              folder.path().string();
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
  ASSERT_EQ(status, 0);
  const std::string bytes = read_file(folder.path() / "updated.f32");
  std::vector<float> expected(store.weights().size());
  ASSERT_EQ(bytes.size(), expected.size() * sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());

  for (const Parameter& p : store.list()) {
    double error = 0;
    double moved = 0;
    for (std::int64_t i = 0; i < p.size(); ++i) {
      const auto at = static_cast<std::size_t>(p.offset + i);
      error = std::max(
          error, std::abs(static_cast<double>(store.weights()[at]) - static_cast<double>(expected[at])));
      moved = std::max(moved, std::abs(static_cast<double>(expected[at])));
    }
    EXPECT_LT(error, 2e-6 * moved) << p.name << " reaches " << moved;
  }
}

// Without weight decay LAMB has no trust ratio.
INSTANTIATE_TEST_SUITE_P(All, OptimizerReference,
                         testing::Values(Case{"adamw", OptimizerKind::adamw, 0.05},
                                         Case{"lamb", OptimizerKind::lamb, 0.05},
                                         Case{"lamb_without_decay", OptimizerKind::lamb, 0.0}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace podium
