// A model that is ready to answer: warmed up, with a queue and a thread of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "worker/serve/batch_engine.h"
#include "worker/serve/bert_passes.h"
#include "worker/serve/generation_engine.h"
#include "worker/serve/loaded_model.h"

namespace podium {

struct ServeRules {
  BatchRules batches;
  int texts = 8;         // generated together
  int positions = 1024;  // of prompt and text together, where the model has as many
};

class ServedModel {
 public:
  // Warms it up, which takes a few passes.
  ServedModel(std::filesystem::path folder, std::unique_ptr<LoadedModel> loaded, const ServeRules& rules,
              std::shared_ptr<ServeMeter> meter);

  const std::filesystem::path& folder() const { return folder_; }
  const LoadedModel& loaded() const { return *loaded_; }
  BatchEngine* batches() { return batches_.get(); }   // of a BERT
  GenerationEngine* texts() { return texts_.get(); }  // of a model that generates
  int positions() const { return session_ ? session_->positions() : loaded_->spec.max_positions; }
  std::size_t waiting() const { return batches_ ? batches_->waiting() : texts_->waiting(); }
  bool is_computing() const { return batches_ ? batches_->is_computing() : texts_->is_computing(); }

 private:
  void serve_bert(const BatchRules& rules);
  void serve_language(const ServeRules& rules);

  std::filesystem::path folder_;
  std::unique_ptr<LoadedModel> loaded_;
  std::shared_ptr<ServeMeter> meter_;
  std::optional<BertPasses> passes_;
  std::unique_ptr<GenerationSession> session_;
  // Last: they use the rest.
  std::unique_ptr<BatchEngine> batches_;
  std::unique_ptr<GenerationEngine> texts_;
};

}  // namespace podium
