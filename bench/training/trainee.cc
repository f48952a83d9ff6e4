#include "bench/training/trainee.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "worker/nn/pretraining_head.h"
#include "worker/tensor/random.h"
#include "worker/train/product_timing.h"

namespace podium {
namespace {

// BERT predicts `masked` tokens spread over each sequence, GPT every next one.
MicroBatch random_batch(const TraineeOptions& options) {
  Random random(1, 0);
  const auto draw = [&](int bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(bound)));
  };
  const bool bert = options.model.family == ModelFamily::bert;
  const int scored = bert ? options.masked : options.length - 1;
  MicroBatch batch;
  batch.sequences = options.batch;
  batch.length = options.length;
  Targets& tokens = batch.targets[kLanguageTerm];
  std::vector<std::int32_t> random_next;
  for (int s = 0; s < options.batch; ++s) {
    batch.valid_lengths.push_back(options.length);
    if (bert) random_next.push_back(draw(2));
    for (int t = 0; t < options.length; ++t) {
      batch.input_ids.push_back(draw(options.model.vocab));
      if (bert) batch.token_types.push_back(t > options.length / 2 ? 1 : 0);
    }
    for (int i = 0; i < scored; ++i) {
      const int position = bert ? 1 + i * (options.length - 1) / scored : i;
      tokens.positions.push_back(s * options.length + position);
      tokens.labels.push_back(bert ? draw(options.model.vocab)
                                   : batch.input_ids[static_cast<std::size_t>(s * options.length + i + 1)]);
    }
  }
  batch.targets[kNextSentenceTerm] = sequence_targets(std::move(random_next), options.length);
  return batch;
}

int machine_threads() { return static_cast<int>(std::thread::hardware_concurrency()); }

Context context_for(const JobDevice& device, const TraineeOptions& options) {
  Context context;
  device.lend_to(context);
  context.threads = options.threads;
  return context;
}

}  // namespace

Trainee::Trainee(const TraineeOptions& options)
    : device_(open_job_device(options.gpu ? "gpu" : "cpu", 0)),
      context_(context_for(device_, options)),
      groups_(make_groups(world_, {})),
      model_(make_model(context_, options.model, {.precision = options.precision}, groups_)),
      engine_(context_, *model_, groups_),
      optimizer_(make_optimizer({.name = OptimizerKind::adamw, .lr = 1e-4}, model_->parameters(), context_)),
      batch_(random_batch(options)) {
  parameters().initialise(1, options.model.initializer_range,
                          std::max(options.threads, options.gpu ? machine_threads() : 1));
  ProductTiming timing(context_, world_, {}, options.timed_products);
  if (!timing.wants("")) return;
  timing.choose("", [this] {
    engine_.train({&batch_, 1}, {1, 1}, {.seed = 1, .step = 1}, [](std::int64_t, std::int64_t) {});
    engine_.take_losses();
    parameters().clear_gradients(context_.threads);
  });
}

double Trainee::step(const std::function<BeforeChange()>& before_update) {
  ++step_;
  LossScales scales{};
  for (std::size_t term = 0; term < scales.size(); ++term)
    scales[term] = 1.0F / static_cast<float>(std::max<std::size_t>(1, batch_.targets[term].labels.size()));
  engine_.train({&batch_, 1}, scales, {.seed = 1, .step = step_}, [](std::int64_t, std::int64_t) {});
  const double norm = optimizer_->gradient_norm(parameters());
  const LossSums losses = engine_.take_losses();
  const auto start = std::chrono::steady_clock::now();
  optimizer_->update(parameters(), step_, 1e-4, clip_factor(norm, 1.0),
                     before_update ? before_update() : nullptr);
  update_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double loss = 0;
  for (std::size_t term = 0; term < losses.size(); ++term) loss += losses[term].loss * scales[term];
  return loss;
}

}  // namespace podium
