// Two tensor ranks, each a thread with a communicator over Gloo, against one: losses and every gradient agree
// to fp32 rounding with dropout on, with and without sequence parallelism.
#include <gtest/gtest.h>

#include "tests/worker/comm/world.h"
#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {
namespace {

constexpr int kRanks = 2;

struct Share {
  Parameter parameter;
  std::vector<float> gradient;
};

// What each rank computed, and the whole put together from the ranks' shares.
struct Parallel {
  std::vector<LossSums> losses{kRanks};
  std::vector<std::vector<Share>> shares{kRanks};

  Gradients whole() const {
    Gradients all;
    for (const std::vector<Share>& rank : shares)
      for (const Share& share : rank) add(share, all[share.parameter.name]);
    return all;
  }

  // Whether every rank holds the same gradient of what is not sliced.
  bool replicas_agree() const {
    for (std::size_t i = 0; i < shares[0].size(); ++i) {
      const Parameter& p = shares[0][i].parameter;
      if (p.slice.axis < 0 && !p.partial_over_tensor && shares[0][i].gradient != shares[1][i].gradient)
        return false;
    }
    return true;
  }

 private:
  static void add(const Share& share, std::vector<float>& whole) {
    const Parameter& p = share.parameter;
    if (p.slice.axis < 0) {
      if (whole.empty() || !p.partial_over_tensor)
        whole = share.gradient;
      else
        std::ranges::transform(whole, share.gradient, whole.begin(), std::plus<>());
      return;
    }
    whole.resize(static_cast<std::size_t>(p.full_shape().size()));
    const std::int64_t columns = p.shape.rank() == 2 ? p.shape[1] : 1;
    const std::int64_t full_columns = p.shape.rank() == 2 ? p.full_shape()[1] : 1;
    for (std::int64_t i = 0; i < p.size(); ++i) {
      const std::int64_t row = i / columns + (p.slice.axis == 0 ? p.slice.begin : 0);
      const std::int64_t column = i % columns + (p.slice.axis == 1 ? p.slice.begin : 0);
      whole[static_cast<std::size_t>(row * full_columns + column)] =
          share.gradient[static_cast<std::size_t>(i)];
    }
  }
};

Parallel run_parallel(const ModelSpec& spec, const ModelOptions& options, const MicroBatch& batch) {
  Parallel result;
  run_threads(kRanks, [&](Communicator& world) {
    Context context;
    const ParallelGroups groups = make_groups(world, {.tensor = kRanks});
    const std::unique_ptr<Model> model = make_model(context, spec, options, groups);
    randomise(model->parameters(), 7);
    set_ranges(*model, spec);
    const Pass pass{batch, kScales, kKey, true};
    const auto rank = static_cast<std::size_t>(world.rank());
    result.losses[rank] = forward(*model, pass);
    backward(*model, pass);
    ParameterStore& store = model->parameters();
    for (const Parameter& p : store.list())
      result.shares[rank].push_back({p, {store.gradients(p).begin(), store.gradients(p).end()}});
  });
  return result;
}

class TensorParallel : public testing::TestWithParam<std::tuple<ModelFamily, bool>> {
 protected:
  const ModelSpec spec_ = small_spec(std::get<0>(GetParam()), 0.1);
  const bool sequence_ = std::get<1>(GetParam());
  const MicroBatch batch_ = random_batch(spec_, 3, 5, 37);  // an odd number of rows

  void expect_as_alone(const ModelOptions& options, double tolerance) {
    const Outcome alone = outcome_of(
        spec_, {.precision = options.precision, .fp8 = options.fp8, .quantise = options.quantise}, {batch_});
    const Parallel parallel = run_parallel(spec_, options, batch_);
    for (const LossSums& losses : parallel.losses) {
      EXPECT_NEAR(losses[kLanguageTerm].loss, alone.losses[kLanguageTerm].loss,
                  tolerance * alone.losses[kLanguageTerm].loss);
      EXPECT_NEAR(losses[kNextSentenceTerm].loss, alone.losses[kNextSentenceTerm].loss,
                  tolerance * alone.losses[kNextSentenceTerm].loss);
      EXPECT_EQ(losses[kLanguageTerm].count, alone.losses[kLanguageTerm].count);
    }
    EXPECT_TRUE(parallel.replicas_agree());
    EXPECT_LT(worst_error(parallel.whole(), alone.gradients), tolerance);
  }
};

TEST_P(TensorParallel, LossesAndGradientsAreThoseOfOneProcess) {
  expect_as_alone({.sequence_parallel = sequence_}, 1e-5);
}

TEST_P(TensorParallel, AlsoRecomputedAndUnpadded) {
  expect_as_alone({.recompute = Recompute::full, .unpadded = true, .sequence_parallel = sequence_}, 1e-5);
}

TEST_P(TensorParallel, AlsoInBf16ToItsRounding) {
  expect_as_alone({.precision = Precision::bf16, .sequence_parallel = sequence_}, 3e-2);
}

// Each rank's share of a matrix has a scale of its own. Llama's gate multiplies two products that are rounded
// so.
TEST_P(TensorParallel, AlsoInFloat8ToItsRounding) {
  expect_as_alone({.precision = Precision::bf16, .fp8 = true, .sequence_parallel = sequence_},
                  spec_.family == ModelFamily::llama ? 0.3 : 0.2);
}

// A value between two levels may go either way where sums differ in their last bits.
TEST_P(TensorParallel, AlsoRoundedToInt8) {
  if (spec_.family != ModelFamily::bert) return;
  expect_as_alone({.quantise = QuantiseSpec{}, .sequence_parallel = sequence_}, 5e-3);
}

INSTANTIATE_TEST_SUITE_P(All, TensorParallel,
                         testing::Combine(testing::Values(ModelFamily::bert, ModelFamily::gpt,
                                                          ModelFamily::llama),
                                          testing::Bool()),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) +
                                  (std::get<1>(instance.param) ? "_sequence" : "");
                         });

void expect_refused(const ModelSpec& spec, const std::string& why) {
  run_threads(kRanks, [&](Communicator& world) {
    Context context;
    const ParallelGroups groups = make_groups(world, {.tensor = kRanks});
    try {
      make_model(context, spec, {}, groups);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), why);
    }
  });
}

TEST(TensorParallelShape, HeadsThatDoNotComeOutEvenAreRefused) {
  ModelSpec spec = small_spec(ModelFamily::gpt);
  spec.heads = 1;
  expect_refused(spec, "model: heads 1 must be a multiple of 2: parallel.tensor 2 shares it equally");
  spec = small_spec(ModelFamily::llama);
  spec.key_value_heads = 1;
  expect_refused(spec,
                 "model: key_value_heads 1 must be a multiple of 2: parallel.tensor 2 shares it equally");
}

}  // namespace
}  // namespace podium::test
