// A whole trained model in one process, to evaluate: from a Hugging Face folder or a checkpoint of any
// layout.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/model/spec.h"
#include "worker/comm/parallel.h"
#include "worker/nn/model.h"
#include "worker/tokenizer/tokenizer.h"
#include "worker/train/engine.h"

namespace podium {

class TrainedModel {
 public:
  // `folder` may also be that of a run's checkpoints, of which the newest whole one is taken. Throws BadData,
  // also where weights are missing that predict tokens, and Failure. `context` must outlive the model.
  TrainedModel(Context& context, const std::filesystem::path& folder, Precision precision);

  TrainedModel(const TrainedModel&) = delete;  // the engine refers to its groups
  TrainedModel& operator=(const TrainedModel&) = delete;

  const ModelSpec& spec() const { return spec_; }
  std::int64_t step() const { return step_; }  // of the checkpoint; else 0
  // That a checkpoint is of; nothing for a Hugging Face folder.
  const std::optional<JobSpec>& job() const { return job_; }
  bool judges_pairs() const { return judges_pairs_; }  // of a BERT: next sentences
  // Losses and right predictions of these, without dropout.
  LossSums evaluate(const MicroBatch& batch) { return engine_->evaluate({&batch, 1}); }

  // That of its folder, or of its run, whose paths begin at `data_folder`.
  std::unique_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& data_folder) const;

 private:
  std::filesystem::path folder_;
  std::optional<JobSpec> job_;
  std::int64_t step_ = 0;
  ModelSpec spec_;
  bool judges_pairs_ = true;
  std::unique_ptr<Communicator> world_;
  ParallelGroups groups_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace podium
