#include "worker/train/teacher.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "worker/data/failure.h"
#include "worker/tensor/downloaded.h"
#include "worker/tensor/profiler.h"

namespace podium {

TeacherModel::TeacherModel(Context& context, const JobSpec& spec, const ModelSpec& model,
                           const HeadPlan& head, bool scores, Fill fill)
    : context_(context),
      spec_(model),
      options_{.unpadded = spec.training.unpadded, .head = head},
      scores_(scores),
      fill_(std::move(fill)),
      groups_(make_groups(alone_, {})) {
  if (!head.take_scores)
    refuse_spec(fmt::format("training.distill is for the tasks classify, by classes, and squad, not for {}",
                            to_string(spec.training.task)));
}

void TeacherModel::score(std::span<MicroBatch> batches) {
  if (!read_) read();
  if (!scores_) return;
  const ProfilePhase profile(context_, "teacher");
  for (MicroBatch& batch : batches) score(batch);
}

void TeacherModel::read() {
  ParameterStore none(context_.memory);
  if (scores_) {
    model_ = make_model(context_, spec_, options_, groups_);
    engine_ = std::make_unique<Engine>(context_, *model_, groups_);
  }
  const FirstWeights first = fill_(model_ ? model_->parameters() : none);
  if (!first.drawn.empty())
    refuse_spec(
        fmt::format("training.distill: what model.init names is no teacher for this task: it has no {} "
                    "for it; name a model that was trained for the same task and labels",
                    fmt::join(first.drawn, ", ")));
  read_ = true;
}

void TeacherModel::score(MicroBatch& batch) {
  std::vector<float> predictions;
  engine_->evaluate({&batch, 1}, [&](const MicroBatch&, ConstTensorView scores) {
    predictions = downloaded(context_, scores);
  });
  options_.head->take_scores(predictions, batch);
}

}  // namespace podium
