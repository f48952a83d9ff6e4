// What training relies on in one process: right gradients, the same bits in every run, and the same step
// however a batch is split, recomputed, unpadded or cut into chunks.
#include "worker/nn/model.h"

#include <gtest/gtest.h>

#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tensor/profiler.h"

namespace podium::test {
namespace {

// Sequences [begin, begin + count) of a batch, as a batch of their own.
MicroBatch part_of(const MicroBatch& batch, int begin, int count) {
  const auto slice = [](const std::vector<std::int32_t>& values, int from, int size) {
    if (values.empty()) return values;
    return std::vector<std::int32_t>(values.begin() + from, values.begin() + from + size);
  };
  MicroBatch part{.sequences = count,
                  .length = batch.length,
                  .first_sample = begin,
                  .input_ids = slice(batch.input_ids, begin * batch.length, count * batch.length),
                  .token_types = slice(batch.token_types, begin * batch.length, count * batch.length),
                  .valid_lengths = slice(batch.valid_lengths, begin, count)};
  for (std::size_t term = 0; term < part.targets.size(); ++term) {
    const Targets& whole = batch.targets[term];
    for (std::size_t i = 0; i < whole.positions.size(); ++i) {
      const std::int32_t position = whole.positions[i] - begin * batch.length;
      if (position < 0 || position >= count * batch.length) continue;
      part.targets[term].positions.push_back(position);
      part.targets[term].labels.push_back(whole.labels[i]);
    }
  }
  return part;
}

class Families : public testing::TestWithParam<ModelFamily> {
 protected:
  const ModelSpec spec_ = small_spec(GetParam(), 0.1);
  const MicroBatch batch_ = random_batch(spec_, 4, 5);
};

// Along a random direction in each parameter, dropout on: the masks depend on the key alone.
TEST_P(Families, GradientsAreTheSlopesOfTheLoss) {
  LoneModel lone(spec_, {});
  ParameterStore& store = lone.model->parameters();
  const Pass pass{batch_, kScales, kKey, true};
  const auto loss = [&] {
    store.weights_changed();
    const LossSums sums = forward(*lone.model, pass);
    return kScales[kLanguageTerm] * sums[kLanguageTerm].loss +
           kScales[kNextSentenceTerm] * sums[kNextSentenceTerm].loss;
  };
  loss();
  store.clear_gradients();
  forward(*lone.model, pass);
  backward(*lone.model, pass);
  const Gradients gradients = gradients_of(*lone.model);
  for (const Parameter& p : store.list()) {
    const std::span<float> weights = store.weights(p);
    const std::vector<float> original(weights.begin(), weights.end());
    const std::vector<float>& gradient = gradients.at(p.name);
    Random random(1, static_cast<std::uint64_t>(p.offset));
    std::vector<double> direction(weights.size());
    double slope = 0;
    // Leaning on the gradient, so that the slope is not lost in the rounding of the loss.
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] = (0.1 * random.normal() + 1.0) * gradient[i];
      slope += direction[i] * gradient[i];
    }
    if (norm(gradient) < 1e-5 * norm(gradients)) continue;  // a key's bias
    const double step = 1e-2 / norm(gradient);
    const auto loss_at = [&](double t) {
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(original[i] + t * direction[i]);
      return loss();
    };
    const double found = (loss_at(step) - loss_at(-step)) / (2 * step);
    std::ranges::copy(original, weights.begin());
    EXPECT_NEAR(found, slope, 1e-2 * slope) << p.name;
  }
}

TEST_P(Families, TheMasksFollowSeedAndStep) {
  const Gradients base = outcome_of(spec_, {}, {batch_}).gradients;
  EXPECT_NE(base, outcome_of(spec_, {}, {batch_}, {.seed = 4, .step = 17}).gradients);
  EXPECT_NE(base, outcome_of(spec_, {}, {batch_}, {.seed = 3, .step = 18}).gradients);
}

TEST_P(Families, RecomputationChangesNoBit) {
  const Outcome none = outcome_of(spec_, {}, {batch_});
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    const Outcome again = outcome_of(spec_, {.recompute = recompute}, {batch_});
    EXPECT_EQ(again.losses[kLanguageTerm].loss, none.losses[kLanguageTerm].loss) << to_string(recompute);
    EXPECT_EQ(again.gradients, none.gradients) << to_string(recompute);
  }
}

// Two chunks of two layers each, of which the first layer is run again; more is kept than where all are and
// less than where none is.
TEST_P(Families, RecomputingSomeLayersOfAChunkChangesNoBitAndKeepsTheRest) {
  ModelSpec spec = spec_;
  spec.layers = 4;
  const MicroBatch batch = random_batch(spec, 16, 5);
  const auto train = [&](Recompute recompute, int layers) {
    LoneModel lone(spec, {.recompute = recompute, .recompute_layers = layers, .interleave = 2});
    const Pass pass{batch, kScales, kKey, true};
    const LossSums losses = forward(*lone.model, pass);
    const std::int64_t kept = lone.model->memory().activations;
    backward(*lone.model, pass);
    return std::tuple(losses[kLanguageTerm].loss, gradients_of(*lone.model), kept);
  };
  const auto [loss, gradients, all_kept] = train(Recompute::none, 0);
  const auto [loss_of_some, gradients_of_some, some_kept] = train(Recompute::full, 1);
  EXPECT_EQ(loss_of_some, loss);
  EXPECT_EQ(gradients_of_some, gradients);
  EXPECT_LT(some_kept, all_kept);
  EXPECT_GT(some_kept, std::get<2>(train(Recompute::full, 0)));
}

// In units of one forward pass: forward 1, backward 2, and what is computed again.
TEST_P(Families, RecomputationComputesNothingTwiceAgain) {
  const auto attention_work = [&](Recompute recompute, int layers = 0) {
    Profiler profiler;
    outcome_of(spec_, {.recompute = recompute, .recompute_layers = layers}, {batch_}, kKey,
               {.threads = 2, .profiler = &profiler});
    double forward = 0, all = 0;
    std::int64_t calls = 0;
    for (const ProfileRow& row : summarise(profiler.events())) {
      if (!row.op.starts_with("attention_")) continue;
      if (row.op == "attention_forward")
        forward = row.flops / static_cast<double>(row.calls), calls = row.calls;
      all += row.flops;
    }
    const int again = recompute != Recompute::full ? 0 : layers > 0 ? layers : spec_.layers;
    EXPECT_EQ(calls, spec_.layers + again) << to_string(recompute);
    return all / forward / spec_.layers;
  };
  EXPECT_DOUBLE_EQ(attention_work(Recompute::none), 3);
  EXPECT_DOUBLE_EQ(attention_work(Recompute::selective), 3.5);
  EXPECT_DOUBLE_EQ(attention_work(Recompute::full), 4);
  EXPECT_DOUBLE_EQ(attention_work(Recompute::full, 1), 3.5) << "one of two layers";
}

TEST_P(Families, ChunksChangeNoBit) {
  const Outcome one = outcome_of(spec_, {}, {batch_}), two = outcome_of(spec_, {.interleave = 2}, {batch_});
  EXPECT_EQ(one.losses[kLanguageTerm].loss, two.losses[kLanguageTerm].loss);
  EXPECT_EQ(one.gradients, two.gradients);
}

TEST_P(Families, UnpaddedBatchesMakeTheSameStep) {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    const Outcome padded = outcome_of(spec_, {}, {batch_});
    const Outcome unpadded = outcome_of(spec_, {.recompute = recompute, .unpadded = true}, {batch_});
    EXPECT_NEAR(unpadded.losses[kLanguageTerm].loss, padded.losses[kLanguageTerm].loss,
                1e-5 * padded.losses[kLanguageTerm].loss);
    EXPECT_NEAR(unpadded.losses[kNextSentenceTerm].loss, padded.losses[kNextSentenceTerm].loss,
                1e-5 * padded.losses[kNextSentenceTerm].loss);
    EXPECT_LT(worst_error(unpadded.gradients, padded.gradients), 1e-5);
  }
}

TEST_P(Families, SlotsKeepMicroBatchesInFlightApart) {
  const std::vector<MicroBatch> parts{part_of(batch_, 0, 1), part_of(batch_, 1, 3)};
  const Outcome in_turn = outcome_of(spec_, {}, parts);
  LoneModel lone(spec_, {});
  const Pass first{parts[0], kScales, kKey, true}, second{parts[1], kScales, kKey, true};
  LossSums losses = forward(*lone.model, first, 0);
  losses += forward(*lone.model, second, 1);
  backward(*lone.model, first, 0);
  backward(*lone.model, second, 1);
  EXPECT_EQ(losses[kLanguageTerm].loss, in_turn.losses[kLanguageTerm].loss);
  const Gradients together = gradients_of(*lone.model);
  // The heads add theirs in forward and the embeddings in backward, so the tied table adds up in another
  // order.
  EXPECT_LT(worst_error(together, in_turn.gradients), 1e-6);
}

TEST_P(Families, AnnouncesFinalGradientsFromTheEndToTheBeginning) {
  for (const int chunks : {1, 2}) {
    LoneModel lone(spec_, {.interleave = chunks});
    const auto gradients = lone.model->parameters().gradients();
    std::vector<float> announced(gradients.size());
    auto expected_end = static_cast<std::int64_t>(gradients.size());
    const Pass pass{batch_, kScales, kKey, true};
    forward(*lone.model, pass);
    backward(*lone.model, pass, 0, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(end, expected_end);
      EXPECT_LT(begin, end);
      expected_end = begin;
      std::copy(gradients.begin() + begin, gradients.begin() + end, announced.begin() + begin);
    });
    EXPECT_EQ(expected_end, 0);
    EXPECT_TRUE(std::ranges::equal(announced, gradients));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Families,
                         testing::Values(ModelFamily::bert, ModelFamily::gpt, ModelFamily::llama),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

class Models : public testing::TestWithParam<std::tuple<ModelFamily, Precision>> {
 protected:
  const ModelSpec spec_ = small_spec(std::get<0>(GetParam()), 0.1);
  const ModelOptions options_{.precision = std::get<1>(GetParam())};
  const double tolerance_ = options_.precision == Precision::fp32 ? 1e-5 : 2e-2;
  const MicroBatch batch_ = random_batch(spec_, 4, 5);
};

TEST_P(Models, TwoRunsGiveTheSameBits) {
  const Outcome once = outcome_of(spec_, options_, {batch_}), again = outcome_of(spec_, options_, {batch_});
  EXPECT_EQ(once.gradients, again.gradients);
  EXPECT_EQ(once.losses[kLanguageTerm].loss, again.losses[kLanguageTerm].loss);
}

TEST_P(Models, ASplitBatchMakesTheSameStep) {
  const Outcome whole = outcome_of(spec_, options_, {batch_});
  const Outcome split = outcome_of(spec_, options_, {part_of(batch_, 0, 1), part_of(batch_, 1, 3)});
  EXPECT_NEAR(split.losses[kLanguageTerm].loss, whole.losses[kLanguageTerm].loss,
              tolerance_ * whole.losses[kLanguageTerm].loss);
  EXPECT_NEAR(split.losses[kNextSentenceTerm].loss, whole.losses[kNextSentenceTerm].loss,
              tolerance_ * whole.losses[kNextSentenceTerm].loss);
  EXPECT_EQ(split.losses[kLanguageTerm].count, whole.losses[kLanguageTerm].count);
  EXPECT_EQ(split.losses[kNextSentenceTerm].count, whole.losses[kNextSentenceTerm].count);
  EXPECT_LT(worst_error(split.gradients, whole.gradients), tolerance_);
}

TEST_P(Models, TheThreadCountChangesOnlyRounding) {
  EXPECT_LT(worst_error(outcome_of(spec_, options_, {batch_}, kKey, {.threads = 1}).gradients,
                        outcome_of(spec_, options_, {batch_}).gradients),
            tolerance_);
}

TEST_P(Models, EvaluationIsTrainingWithoutDropout) {
  LoneModel lone(small_spec(spec_.family), options_);
  const LossSums evaluated = forward(*lone.model, {batch_, {}, {}, false});
  for (const float g : lone.model->parameters().gradients()) ASSERT_EQ(g, 0);
  const LossSums trained = forward(*lone.model, {batch_, kScales, kKey, true});
  EXPECT_NEAR(evaluated[kLanguageTerm].loss, trained[kLanguageTerm].loss, 1e-6 * trained[kLanguageTerm].loss);
  EXPECT_NEAR(evaluated[kNextSentenceTerm].loss, trained[kNextSentenceTerm].loss,
              1e-6 * trained[kNextSentenceTerm].loss);
  EXPECT_EQ(evaluated[kLanguageTerm].correct, trained[kLanguageTerm].correct);
  EXPECT_EQ(evaluated[kLanguageTerm].count,
            static_cast<std::int64_t>(batch_.targets[kLanguageTerm].labels.size()));
}

TEST_P(Models, FollowingTheGradientLowersTheLoss) {
  LoneModel lone(spec_, options_);
  ParameterStore& store = lone.model->parameters();
  store.initialise(1, 0.02);
  const Pass evaluation{batch_, {}, {}, false};
  const double before = forward(*lone.model, evaluation)[kLanguageTerm].loss;
  for (int step = 0; step < 30; ++step) {
    store.clear_gradients();
    const float scale = 1.0F / static_cast<float>(batch_.targets[kLanguageTerm].labels.size());
    const Pass pass{batch_, {scale, scale}, {.seed = 1, .step = step}, true};
    forward(*lone.model, pass);
    backward(*lone.model, pass);
    for (std::size_t i = 0; i < store.weights().size(); ++i)
      store.weights()[i] -= 0.5F * store.gradients()[i];
    store.weights_changed();
  }
  EXPECT_LT(forward(*lone.model, evaluation)[kLanguageTerm].loss, 0.9 * before);
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         testing::Combine(testing::Values(ModelFamily::bert, ModelFamily::gpt,
                                                          ModelFamily::llama),
                                          testing::Values(Precision::fp32, Precision::bf16, Precision::fp16)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

std::int64_t parameter_count(ModelFamily family, int layers, int hidden, int heads, int vocab,
                             int positions) {
  ModelSpec spec;
  spec.family = family;
  spec.layers = layers;
  spec.hidden = hidden;
  spec.heads = heads;
  spec.intermediate = 4 * hidden;
  spec.vocab = vocab;
  spec.max_positions = positions;
  Context context;
  SingleCommunicator alone;
  const ParallelGroups groups = make_groups(alone, {});
  return make_model(context, spec, {}, groups)->parameters().parameter_count();
}

TEST(ModelShape, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(parameter_count(ModelFamily::bert, 12, 768, 12, 30522, 512), 110106428);
  EXPECT_EQ(parameter_count(ModelFamily::gpt, 12, 768, 12, 50257, 1024), 124439808);
}

// 72 B s l h^2 (1 + s / 6h + V / 12lh), as Narayanan et al. (2021) give it without recomputation.
TEST(ModelShape, CountsOperationsAsPublished) {
  ModelSpec spec = small_spec(ModelFamily::gpt);
  spec.intermediate = 4 * spec.hidden;
  LoneModel lone(spec, {});
  MicroBatch batch{.sequences = 3, .length = kLength};
  batch.targets[kLanguageTerm].positions.resize(3 * kLength);
  batch.targets[kLanguageTerm].labels.resize(3 * kLength);
  const double l = spec.layers, h = spec.hidden, s = kLength, v = spec.vocab;
  const double published = 72 * 3 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(lone.model->training_flops(batch), published, 1e-9 * published);
}

TEST(ModelShape, PaddingIsNotCounted) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone(spec, {});
  MicroBatch padded = random_batch(spec, 1, 1), exact = padded;
  padded.valid_lengths = {30};
  exact.valid_lengths = {};
  exact.length = 30;
  EXPECT_EQ(lone.model->training_flops(padded), lone.model->training_flops(exact));
}

TEST(ModelShape, RefusesWhatDoesNotComeOutEven) {
  const auto refusal = [](const auto& change) -> std::string {
    ModelSpec spec = small_spec(ModelFamily::bert);
    ModelOptions options;
    change(spec, options);
    Context context;
    SingleCommunicator alone;
    const ParallelGroups groups = make_groups(alone, {});
    try {
      make_model(context, spec, options, groups);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal([](ModelSpec&, ModelOptions&) {}), "accepted");
  EXPECT_NE(refusal([](ModelSpec& s, ModelOptions&) { s.heads = 5; }).find("multiple of 5"),
            std::string::npos);
  EXPECT_NE(
      refusal([](ModelSpec&, ModelOptions& o) { o.interleave = 3; }).find("layers 2 must be a multiple of 3"),
      std::string::npos);
  EXPECT_NE(refusal([](ModelSpec&, ModelOptions& o) { o.recompute_layers = 3; }).find("must lie between 0 and 2"),
            std::string::npos);
  EXPECT_NE(refusal([](ModelSpec& s, ModelOptions&) {
              s = small_spec(ModelFamily::llama);
              s.key_value_heads = 3;
            }).find("heads 4 must be a multiple of 3: groups share"),
            std::string::npos);
  EXPECT_NE(refusal([](ModelSpec& s, ModelOptions&) {
              s = small_spec(ModelFamily::llama);
              s.heads = 16;
            }).find("hidden 64 must be a multiple of 128: positions turn"),
            std::string::npos);
}

}  // namespace
}  // namespace podium::test
