#include "worker/infer/result_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/worker/infer/small_source.h"

namespace podium::test {
namespace {

TEST(ResultCheck, MeasuresDifferencesAgainstWhatIsExpected) {
  const SequenceResults expected{{3, 0}, {4}};
  EXPECT_EQ(relative_distance(expected, expected), 0);
  EXPECT_NEAR(relative_distance({{3, 0.3F}, {4.4F}}, expected), 0.5 / 5, 1e-6);
}

TEST(ResultCheck, TakesWhatIsNoNumberForWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const InferencePrecision precision : {InferencePrecision::fp32, InferencePrecision::fp8})
    EXPECT_GT(relative_distance({{nan, 0}, {4}}, {{3, 0}, {4}}), distance_tolerance(precision));
}

TEST(ResultCheck, TakesTheSequenceThatIsAskedFor) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone(spec, {});
  Context context{.threads = 2};
  BertWeights weights = make_bert_weights(context, source_of(spec, lone.model->parameters()), {});
  const MicroBatch random = random_batch(spec, 3, 1);
  const InferenceBatch batch{.ids = random.input_ids, .types = random.token_types};
  BertSession session(context, weights, {.sequences = 3, .length = random.length});
  session.set_inputs(batch);
  session.run();
  for (const int sequence : {0, 2}) {
    const SequenceResults found = results_of(context, session, sequence);
    const double tolerance = distance_tolerance(InferencePrecision::fp32);
    EXPECT_LT(relative_distance(found, compute_alone(context, weights, batch, random.length, sequence)),
              tolerance);
    EXPECT_GT(relative_distance(found, compute_alone(context, weights, batch, random.length, 1)), 0.1);
  }
}

}  // namespace
}  // namespace podium::test
