// A whole trained model in one process, to evaluate: from a Hugging Face folder or a checkpoint of any
// layout.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/model/spec.h"
#include "worker/comm/parallel.h"
#include "worker/nn/model.h"
#include "worker/tokenizer/tokenizer.h"
#include "worker/train/engine.h"

namespace podium {

class TrainedModel {
 public:
  // Throws BadData, also where a head's weights are missing, and Failure. `context` must outlive the model.
  TrainedModel(Context& context, const std::filesystem::path& folder, Precision precision);

  TrainedModel(const TrainedModel&) = delete;  // the engine refers to its groups
  TrainedModel& operator=(const TrainedModel&) = delete;

  const ModelSpec& spec() const { return spec_; }
  // Losses and right predictions of these, without dropout.
  LossSums evaluate(const MicroBatch& batch) { return engine_->evaluate({&batch, 1}); }

  // That of its folder, or of its run, whose paths begin at `data_folder`.
  std::unique_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& data_folder) const;

 private:
  std::filesystem::path folder_;
  TokenizerSpec trained_with_;  // of a checkpoint
  bool is_checkpoint_;
  ModelSpec spec_;
  std::unique_ptr<Communicator> world_;
  ParallelGroups groups_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace podium
