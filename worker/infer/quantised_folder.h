// Quantised models on disk: a Hugging Face folder whose encoder products are in 8 bits.
// docs/quantised-models.md describes the format; the reader accepts nothing else and answers whatever it
// finds with a model or BadData.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "worker/infer/source_model.h"

namespace podium {

// Without the tokenizer.
SourceModel read_quantised_folder(const std::filesystem::path& folder);

// `model` has products and quantised_to; `calibration` says where the ranges came from and what they cost.
// The folder is made, and must not hold a model already. The files of its tokenizer are copied.
void write_quantised_folder(const std::filesystem::path& folder, const SourceModel& model,
                            const nlohmann::json& calibration);

}  // namespace podium
