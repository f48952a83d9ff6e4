// A head that no family knows, as a task brings it: its term is scored, its gradients are those of its loss,
// and what it predicts of held-out batches comes to the task once, whatever the layout.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "tests/worker/nn/small_models.h"
#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/cross_entropy.h"
#include "worker/ops/rows.h"
#include "worker/tensor/downloaded.h"
#include "worker/train/engine.h"
#include "worker/train/trainer.h"

namespace podium {
namespace {

constexpr int kClasses = 3;

// Which of three kinds a sequence is of, by its first token: logits = W x + b.
class KindHead final : public Head {
 public:
  KindHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
      : hidden_(spec.hidden), classifier_(store, tensor, {{"classifier", kClasses}}, spec.hidden) {}

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    const auto [rows, labels, values] = pass.inputs.targets(0);
    const auto activation = [&pass, count = std::ssize(labels)](std::int64_t columns) {
      return pass.saved.allocate(pass.compute, Shape{count, columns});
    };
    const TensorView picked = activation(hidden_), logits = activation(kClasses);
    ops::gather_rows(pass.context, x, rows, picked);
    classifier_.forward(pass.context, picked, logits);
    if (dx.address == nullptr) {
      ops::cross_entropy(pass.context, logits, labels, pass.sums);
      return logits;
    }
    ops::cross_entropy_backward(pass.context, logits, labels, pass.inputs.loss_scale(0),
                                classifier_.bias_gradient(), pass.sums);
    const TensorView dpicked = activation(hidden_);
    classifier_.backward_weight_only(pass.context, picked, logits);
    classifier_.backward_input(pass.context, logits, dpicked);
    ops::scatter_add_rows(pass.context, dpicked, rows, dx);
    return {};
  }

 private:
  std::int64_t hidden_;
  Linear classifier_;
};

HeadPlan kind_head() {
  return {{{"kind"}},
          [](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId) {
            return std::make_unique<KindHead>(store, tensor, spec);
          },
          [](const ModelSpec&, const MicroBatch&) { return 0.0; }};
}

ModelSpec small_bert() { return test::small_spec(ModelFamily::bert); }

MicroBatch batch_of_kinds(int sequences, std::uint64_t seed) {
  MicroBatch batch = test::random_batch(small_bert(), sequences, seed);
  std::vector<std::int32_t> kinds;
  for (int s = 0; s < sequences; ++s)
    kinds.push_back(batch.input_ids[static_cast<std::size_t>(s * batch.length)] % kClasses);
  batch.targets = {sequence_targets(std::move(kinds), batch.length)};
  return batch;
}

// By the definition, in doubles.
LossSum scored(std::span<const std::int32_t> labels, const std::vector<float>& logits) {
  LossSum sum;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = std::span(logits).subspan(i * kClasses, kClasses);
    double total = 0;
    for (const float logit : row) total += std::exp(static_cast<double>(logit));
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto highest = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    sum += {std::log(total) - row[label], 1, highest == label ? 1 : 0};
  }
  return sum;
}

const std::vector<MicroBatch>& held_out_batches() {
  static const std::vector<MicroBatch> batches{batch_of_kinds(5, 1), batch_of_kinds(3, 2)};
  return batches;
}

// What the engine tells of the held-out batches, and what follows from the predictions that it hands out.
std::pair<LossSum, LossSum> evaluated(const Context& context, Model& model, const ParallelGroups& groups) {
  Engine engine(context, model, groups);
  LossSum predicted;
  const LossSums told =
      engine.evaluate(held_out_batches(), [&](const MicroBatch& batch, ConstTensorView logits) {
        EXPECT_EQ(logits.shape, (Shape{batch.sequences, kClasses}));
        predicted += scored(batch.targets[0].labels, downloaded(context, logits));
      });
  for (std::size_t term = 1; term < told.size(); ++term) EXPECT_EQ(told[term].count, 0);
  return {told[0], predicted};
}

class TaskHead : public testing::TestWithParam<Precision> {};

TEST_P(TaskHead, LossesAreThoseOfItsPredictions) {
  test::LoneModel lone(small_bert(), {.precision = GetParam(), .head = kind_head()});
  const auto [told, predicted] = evaluated(lone.context, *lone.model, lone.groups);
  EXPECT_EQ(told.count, 8);
  EXPECT_EQ(predicted.count, 8);
  EXPECT_EQ(told.correct, predicted.correct);
  EXPECT_NEAR(told.loss, predicted.loss, 1e-5 * predicted.loss);
}

INSTANTIATE_TEST_SUITE_P(All, TaskHead, testing::Values(Precision::fp32, Precision::bf16, Precision::fp16),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

// Along the gradient itself the loss changes by its square, a step.
TEST(TaskHeadGradient, IsThatOfItsLoss) {
  test::LoneModel lone(small_bert(), {.head = kind_head()});
  const MicroBatch batch = batch_of_kinds(4, 3);
  const LossScales scales{0.25F};
  Engine engine(lone.context, *lone.model, lone.groups);
  engine.train({&batch, 1}, scales, {}, [](std::int64_t, std::int64_t) {});
  engine.take_losses();
  ParameterStore& parameters = lone.model->parameters();
  const std::vector<float> gradient(parameters.gradients().begin(), parameters.gradients().end());
  const std::vector<float> weights(parameters.weights().begin(), parameters.weights().end());
  double square = 0;
  for (const float value : gradient) square += static_cast<double>(value) * value;
  const auto loss_at = [&](double along) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      parameters.weights()[i] = static_cast<float>(weights[i] + along * gradient[i]);
    parameters.weights_changed();
    return engine.evaluate({&batch, 1})[0].loss * scales[0];
  };
  const double step = 1e-2 / std::sqrt(square);
  EXPECT_NEAR((loss_at(step) - loss_at(-step)) / (2 * step), square, 1e-2 * square);
}

TEST(TaskHeadLayouts, EachPredictionIsHandedOutOnceWhateverTheLayout) {
  test::LoneModel lone(small_bert(), {.head = kind_head()});
  const LossSum alone = evaluated(lone.context, *lone.model, lone.groups).first;
  for (const ParallelLayout layout : {ParallelLayout{.tensor = 2}, ParallelLayout{.pipeline = 2}}) {
    for (const bool sequence : {false, true}) {
      if (sequence && layout.tensor == 1) continue;
      LossSum told, predicted;
      std::mutex mutex;
      run_threads(2, [&](Communicator& world) {
        Context context{.threads = 1};
        const ParallelGroups groups = make_groups(world, layout);
        const auto model =
            make_model(context, small_bert(), {.sequence_parallel = sequence, .head = kind_head()}, groups);
        test::randomise(model->parameters(), 7);
        const auto [of_rank, predicted_here] = evaluated(context, *model, groups);
        const std::lock_guard lock(mutex);
        told += of_rank;
        predicted += predicted_here;
      });
      EXPECT_EQ(told.count, alone.count);
      EXPECT_EQ(predicted.count, alone.count) << "once, by one rank";
      EXPECT_EQ(predicted.correct, told.correct);
      EXPECT_NEAR(told.loss, alone.loss, 1e-4 * alone.loss);
      EXPECT_NEAR(predicted.loss, alone.loss, 1e-4 * alone.loss);
    }
  }
}

// Which kind a sequence is of; its first token tells.
class KindTask final : public Task {
 public:
  explicit KindTask(int data_rank) : data_rank_(data_rank) {
    held_out_ = {{8}, {held_out_batches()[static_cast<std::size_t>(data_rank)]}};
    held_out_.totals[0] = held_out_.micro_batches[0].sequences;
  }

  void start(std::int64_t first_batch) override { next_ = first_batch; }
  TaskBatch next() override {
    return {{4}, {batch_of_kinds(4, static_cast<std::uint64_t>(100 + 2 * next_++ + data_rank_))}};
  }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override { return {static_cast<float>(1 / totals[0])}; }
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override {
    return {{"train/loss", losses[0].loss / totals[0]}};
  }
  std::size_t score_count() const override { return 2; }
  void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const override {
    EXPECT_EQ(predictions.columns, kClasses);
    const LossSum sum = scored(batch.targets[0].labels, predictions.values);
    scores[0] += static_cast<double>(sum.correct);
    scores[1] += static_cast<double>(sum.count);
  }
  Findings findings(const Evaluation& all) const override {
    return {{{"eval/predicted", all.scores[1]},
             {"eval/sequences", all.totals[0]},
             {"eval/accuracy", all.scores[0] / all.scores[1]},
             {"eval/told_accuracy", static_cast<double>(all.losses[0].correct) / all.totals[0]},
             {"eval/loss", all.losses[0].loss / all.totals[0]}},
            {}};
  }

 private:
  int data_rank_;
  TaskBatch held_out_;
  std::int64_t next_ = 0;
};

TEST(TaskHeadTraining, ScoresOfAllRanksBecomeMetricsAndTheLossFalls) {
  const TempFolder folder;
  JobSpec spec;
  spec.model = small_bert();
  spec.training.optimizer.lr = 1e-2;
  spec.training.schedule = {.steps = 30, .warmup = 2};
  spec.training.batch = {8, 4};
  spec.training.sequence_length = test::kLength;
  spec.evaluate.every = 10;
  run_threads(2, [&](Communicator& world) {
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, {.data = 2});
    const auto model = make_model(context, spec.model, {.head = kind_head()}, groups);
    const SystemClock clock;
    EventLog events(folder.path() / ("events-" + std::to_string(world.rank())), clock);
    const TaskSource source{
        spec.model.vocab, {1, 0, "0123456789abcdef"}, kind_head(), [&](const TrainingSpec&) {
          return std::make_unique<KindTask>(world.rank());
        }};
    const std::atomic<bool> stop = false;
    Trainer trainer(spec, {folder.path() / "checkpoints", world.rank() == 0},
                    {context, world, groups, *model, source, events, stop, [](ParameterStore& parameters) {
                       parameters.initialise(1, 0.1);
                       return FirstWeights();
                     }});
    trainer.run();
  });
  std::istringstream lines(read_file(folder.path() / "events-0"));
  std::vector<std::map<std::string, double>> told;
  for (std::string line; std::getline(lines, line);) {
    const WorkerEvent event = worker_event_from_json(nlohmann::json::parse(line));
    const auto* metrics = std::get_if<MetricsEvent>(&event.body);
    if (metrics == nullptr) continue;
    std::map<std::string, double> values(metrics->values.begin(), metrics->values.end());
    if (values.contains("eval/accuracy")) told.push_back(std::move(values));
  }
  ASSERT_EQ(told.size(), 3u);
  for (auto& values : told) {
    EXPECT_EQ(values["eval/predicted"], 8);
    EXPECT_EQ(values["eval/sequences"], 8);
    EXPECT_EQ(values["eval/accuracy"], values["eval/told_accuracy"]);
  }
  EXPECT_LT(told.back()["eval/loss"], told.front()["eval/loss"]);
}

}  // namespace
}  // namespace podium
