// Hugging Face's tokenizer.json: WordPiece with BERT's normaliser and pre-tokenizer, or byte-level BPE.
#pragma once

#include <filesystem>
#include <memory>

#include "worker/tokenizer/tokenizer.h"
#include "worker/tokenizer/tokenizer_config.h"

namespace podium {

// Throws BadData naming what the file has that this is not. What `config` says goes first.
std::unique_ptr<const Tokenizer> read_tokenizer_json(const std::filesystem::path& path,
                                                     const TokenizerConfig& config);

}  // namespace podium
