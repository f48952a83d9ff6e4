// Optimizers against the published formulas, step by step in double precision.
#include "worker/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "worker/tensor/random.h"

namespace podium {
namespace {

// One parameter larger than a chunk, one that is not decayed, one that ends in a partial vector.
ParameterStore make_store() {
  ParameterStore store;
  store.add("large.weight", {300, 151}, Initializer::normal, true);
  store.add("bias", {77}, Initializer::ones, false);
  store.add("small.weight", {3, 5}, Initializer::normal, true);
  store.allocate();
  store.initialise(1, 0.5);
  return store;
}

void draw_gradients(ParameterStore& store, std::uint64_t step) {
  Random random(2, step);
  for (const Parameter& parameter : store.list())
    for (float& gradient : store.gradients(parameter)) gradient = static_cast<float>(random.normal());
}

OptimizerSpec spec_of(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.name = kind;
  spec.weight_decay = 0.1;
  return spec;
}

// The same update on doubles: `trust` says whether |w| / |u| scales it, as in LAMB.
class Reference {
 public:
  Reference(const OptimizerSpec& spec, ParameterStore& store) : spec_(spec) {
    for (const Parameter& parameter : store.list()) {
      const auto weights = store.weights(parameter);
      weights_.emplace_back(weights.begin(), weights.end());
      first_.emplace_back(weights.size());
      second_.emplace_back(weights.size());
    }
  }

  void update(ParameterStore& store, std::int64_t step, double rate, double gradient_scale) {
    for (std::size_t p = 0; p < store.list().size(); ++p) {
      const Parameter& parameter = store.list()[p];
      const auto gradients = store.gradients(parameter);
      const double decay = parameter.decay ? spec_.weight_decay : 0;
      std::vector<double> direction(weights_[p].size());
      double weight_squares = 0;
      double direction_squares = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) {
        const double gradient = static_cast<double>(gradients[i]) * gradient_scale;
        double& m = first_[p][i];
        double& v = second_[p][i];
        m = spec_.beta1 * m + (1 - spec_.beta1) * gradient;
        v = spec_.beta2 * v + (1 - spec_.beta2) * gradient * gradient;
        const double m_hat = m / (1 - std::pow(spec_.beta1, static_cast<double>(step)));
        const double v_hat = v / (1 - std::pow(spec_.beta2, static_cast<double>(step)));
        direction[i] = m_hat / (std::sqrt(v_hat) + spec_.epsilon) + decay * weights_[p][i];
        weight_squares += weights_[p][i] * weights_[p][i];
        direction_squares += direction[i] * direction[i];
      }
      const bool trusts = spec_.name == OptimizerKind::lamb && parameter.decay;
      const double trust = trusts ? std::sqrt(weight_squares) / std::sqrt(direction_squares) : 1;
      for (std::size_t i = 0; i < direction.size(); ++i) weights_[p][i] -= rate * trust * direction[i];
    }
  }

  double largest_difference(const ParameterStore& store) const {
    double largest = 0;
    for (std::size_t p = 0; p < store.list().size(); ++p) {
      const Parameter& parameter = store.list()[p];
      for (std::size_t i = 0; i < weights_[p].size(); ++i) {
        const float weight = store.weights()[static_cast<std::size_t>(parameter.offset) + i];
        largest = std::max(largest, std::abs(weights_[p][i] - static_cast<double>(weight)));
      }
    }
    return largest;
  }

 private:
  OptimizerSpec spec_;
  std::vector<std::vector<double>> weights_, first_, second_;
};

class OptimizerOf : public testing::TestWithParam<OptimizerKind> {};

TEST_P(OptimizerOf, FollowsTheFormula) {
  ParameterStore store = make_store();
  const OptimizerSpec spec = spec_of(GetParam());
  Reference reference(spec, store);
  Context context{.threads = 2};
  const auto optimizer = make_optimizer(spec, store, context);
  for (std::int64_t step = 1; step <= 20; ++step) {
    draw_gradients(store, static_cast<std::uint64_t>(step));
    reference.update(store, step, 0.01, 0.7);
    optimizer->update(store, step, 0.01, 0.7);
  }
  EXPECT_LT(reference.largest_difference(store), 2e-5);
}

TEST_P(OptimizerOf, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3}) {
    ParameterStore store = make_store();
    Context context{.threads = threads};
    const auto optimizer = make_optimizer(spec_of(GetParam()), store, context);
    for (std::int64_t step = 1; step <= 3; ++step) {
      draw_gradients(store, static_cast<std::uint64_t>(step));
      optimizer->update(store, step, 0.01, 1 / optimizer->gradient_norm(store));
    }
    results.emplace_back(store.weights().begin(), store.weights().end());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_P(OptimizerOf, LeavesGapsAndGradientsZeroAndTellsTheStore) {
  ParameterStore store = make_store();
  const std::int64_t generation = store.generation();
  draw_gradients(store, 1);
  Context context;
  make_optimizer(spec_of(GetParam()), store, context)->update(store, 1, 0.01, 1);
  EXPECT_GT(store.generation(), generation);
  std::vector<bool> used(store.weights().size());
  for (const Parameter& parameter : store.list())
    for (std::int64_t i = 0; i < parameter.size(); ++i)
      used[static_cast<std::size_t>(parameter.offset + i)] = true;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    ASSERT_EQ(store.weights()[i], 0.0F) << i;
  }
  for (const float gradient : store.gradients()) ASSERT_EQ(gradient, 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Both, OptimizerOf, testing::Values(OptimizerKind::adamw, OptimizerKind::lamb));

TEST(GradientNorm, IsTheEuclideanNorm) {
  ParameterStore store = make_store();
  Context context{.threads = 2};
  const auto optimizer = make_optimizer(spec_of(OptimizerKind::adamw), store, context);
  for (const Parameter& parameter : store.list()) std::ranges::fill(store.gradients(parameter), 2.0F);
  EXPECT_DOUBLE_EQ(optimizer->gradient_norm(store), std::sqrt(4.0 * (300 * 151 + 77 + 15)));
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    store.gradients(store.list()[1])[76] = bad;
    EXPECT_FALSE(std::isfinite(optimizer->gradient_norm(store)));
  }
}

TEST(GradientNorm, ClippingBringsItDownToTheLimit) {
  EXPECT_DOUBLE_EQ(clip_factor(4, 1), 0.25);
  EXPECT_DOUBLE_EQ(clip_factor(0.5, 1), 1);
  EXPECT_DOUBLE_EQ(clip_factor(4, 0), 1) << "0 means no clipping";
}

}  // namespace
}  // namespace podium
