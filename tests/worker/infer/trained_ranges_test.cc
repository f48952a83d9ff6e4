// A model that was trained to round as inference in 8 bits does, against that inference: it computes what
// training computed. And the ranges on their way between checkpoints, quantised folders and trainings.
#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "tests/worker/infer/small_source.h"
#include "worker/comm/single_communicator.h"
#include "worker/infer/calibration.h"
#include "worker/infer/quantised_folder.h"
#include "worker/input/bad_data.h"
#include "worker/nn/layer_products.h"
#include "worker/ops/inference_attention.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tensor/downloaded.h"
#include "worker/train/pruning.h"

namespace podium::test {
namespace {

using testing::HasSubstr;

constexpr int kClasses = 3;

std::size_t largest(std::span<const float> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

// A model with classes, whose ranges are those of its training on some batches.
class TrainedRanges : public testing::TestWithParam<QuantiseFormat> {
 protected:
  TrainedRanges() : lone_(spec_, options()) {
    prune_two_of_four(lone_.model->parameters());
    for (const std::uint64_t seed : {1, 2, 3}) {
      const MicroBatch seen = batch(seed);
      forward(*lone_.model, {seen, {}, {}, seed > 1});
      lone_.model->ranges()->update(lone_.world);
    }
  }

  ModelOptions options() const {
    return {.quantise = QuantiseSpec{.format = GetParam()}, .head = classify_head(kClasses)};
  }
  MicroBatch batch(std::uint64_t seed) const {
    MicroBatch made = random_batch(spec_, 8, seed);
    made.targets = {sequence_targets(std::vector<std::int32_t>(8, 1), kLength)};
    return made;
  }
  SourceModel source() const {
    SourceModel model = source_of(spec_, lone_.model->parameters());
    model.head = ModelHead(TrainingTask::classify, {"a", "b", "c"});
    model.checkpoint.emplace();
    model.checkpoint->state.quantised.format = GetParam();
    const std::vector<float>& ranges = lone_.model->ranges()->averages();
    for (int product = 0; product < product_count(spec_); ++product)
      model.checkpoint->state.quantised.ranges[product_name(spec_, product)] =
          ranges[static_cast<std::size_t>(product)];
    return model;
  }
  std::vector<float> in_training(const MicroBatch& batch) {
    return downloaded(lone_.context, lone_.model->forward(0, 0, {batch, {}, {}, false}, {}));
  }
  static std::vector<float> at_inference(const SourceModel& model, const MicroBatch& batch) {
    Context context{.threads = 2};
    BertWeights weights = make_bert_weights(context, model, {.precision = *model.quantised_to});
    BertSession session(context, weights, {batch.sequences, batch.length, 0});
    session.set_inputs({batch.input_ids, batch.token_types, batch.valid_lengths, {}});
    session.run();
    return downloaded(context, session.class_logits());
  }
  // Sums are exact in one and rounded in the other, so that a value may go to the level beside. Where the CPU
  // multiplies bf16 inference's attention rounds to it.
  static double bound() {
    Context context;
    return ops::quantised_attention_type(context, DType::f32) == DType::f32 ? 1e-2 : 4e-2;
  }
  void expect_as_trained(const SourceModel& model) {
    for (const std::uint64_t seed : {7, 8, 9}) {
      const MicroBatch unseen = batch(seed);
      const std::vector<float> trained = in_training(unseen), inferred = at_inference(model, unseen);
      ASSERT_EQ(inferred.size(), trained.size());
      EXPECT_LT(distance(inferred, trained), bound() * norm(trained));
      for (std::size_t row = 0; row < trained.size(); row += kClasses)
        EXPECT_EQ(largest(std::span(inferred).subspan(row, kClasses)),
                  largest(std::span(trained).subspan(row, kClasses)));
    }
  }

  const ModelSpec spec_ = small_spec(ModelFamily::bert);
  LoneModel lone_;
  TempFolder folder_;
};

TEST_P(TrainedRanges, InferenceComputesWhatTrainingDid) {
  expect_as_trained(quantise_trained(source(), false));
}

TEST_P(TrainedRanges, SparseInferenceLosesNothing) { expect_as_trained(quantise_trained(source(), true)); }

TEST_P(TrainedRanges, OtherRangesComputeSomethingElse) {
  SourceModel other = source();
  for (auto& [product, range] : other.checkpoint->state.quantised.ranges) range *= 0.25F;
  const MicroBatch unseen = batch(7);
  EXPECT_GT(distance(at_inference(quantise_trained(other, false), unseen), in_training(unseen)),
            2 * bound() * norm(in_training(unseen)));
}

TEST_P(TrainedRanges, AQuantisedFolderKeepsHeadAndRanges) {
  write_quantised_folder(folder_.path() / "model", quantise_trained(source(), true), {});
  const SourceModel read = read_quantised_folder(folder_.path() / "model");
  EXPECT_EQ(read.head, source().head);
  expect_as_trained(read);
  const std::vector<float> ranges = calibrated_ranges(folder_.path() / "model", spec_, GetParam());
  const std::vector<float>& trained = lone_.model->ranges()->averages();
  ASSERT_EQ(ranges.size(), trained.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) EXPECT_FLOAT_EQ(ranges[i], trained[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(All, TrainedRanges, testing::Values(QuantiseFormat::int8, QuantiseFormat::fp8),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

template <class Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const BadData& error) {
    return error.what();
  }
  return "";
}

class IntegerRanges : public TrainedRanges {};
INSTANTIATE_TEST_SUITE_P(Int8, IntegerRanges, testing::Values(QuantiseFormat::int8));

TEST_P(IntegerRanges, OnesThatAreMissingOrOfAnotherModelAreRefused) {
  SourceModel lacking = source();
  lacking.checkpoint->state.quantised.ranges.erase(product_name(spec_, 5));
  EXPECT_THAT(refusal([&] { quantise_trained(lacking, false); }),
              HasSubstr("no range of the inputs of " + product_name(spec_, 5)));
  EXPECT_THAT(refusal([&] { calibrated_ranges(folder_.path(), spec_, QuantiseFormat::int8); }),
              HasSubstr("has no quantization.json"));
  write_quantised_folder(folder_.path() / "model", quantise_trained(source(), false), {});
  ModelSpec deeper = spec_;
  deeper.layers = 3;
  EXPECT_THAT(refusal([&] { calibrated_ranges(folder_.path() / "model", deeper, QuantiseFormat::int8); }),
              HasSubstr("model.layers is 2 there and 3 here"));
  EXPECT_THAT(refusal([&] { calibrated_ranges(folder_.path() / "model", spec_, QuantiseFormat::fp8); }),
              HasSubstr("is calibrated to int8 and training.quantise.format is fp8"));
}

TEST_P(IntegerRanges, ARangeOfZeroIsNoneToCalibrateBy) {
  SourceModel dead = source();
  dead.checkpoint->state.quantised.ranges[product_name(spec_, 5)] = 0.0F;
  EXPECT_THAT(refusal([&] { quantise_trained(dead, false); }),
              HasSubstr("the inputs of " + product_name(spec_, 5) + " are all zero"));
}

}  // namespace
}  // namespace podium::test
