// A model that is ready to answer: warmed up, with a queue and a thread of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "worker/serve/batch_engine.h"
#include "worker/serve/bert_passes.h"
#include "worker/serve/loaded_model.h"

namespace podium {

class ServedModel {
 public:
  // Warms it up, which takes a few passes. The meter outlives it.
  ServedModel(std::filesystem::path folder, std::unique_ptr<LoadedModel> loaded, const BatchRules& rules,
              ServeMeter& meter);

  const std::filesystem::path& folder() const { return folder_; }
  const LoadedModel& loaded() const { return *loaded_; }
  BatchEngine& engine() { return *engine_; }

 private:
  void warm_up(const BatchRules& rules);

  std::filesystem::path folder_;
  std::unique_ptr<LoadedModel> loaded_;
  BertPasses passes_;
  std::unique_ptr<BatchEngine> engine_;  // last: it uses the rest
};

}  // namespace podium
