// Reads a batch as Hugging Face's models take it: a safetensors file with input_ids, attention_mask,
// token_type_ids, labels (-100 where none) and next_sentence_label, of integers.
#pragma once

#include <filesystem>

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

// input_ids and labels are [sequences, length] and needed; attention_mask, where given, is 1 up to a length
// of each sequence and 0 beyond. GPT's labels are shifted here: a position is scored against the label after
// it. Throws BadData naming the file and the tensor.
MicroBatch read_gradients_batch(const std::filesystem::path& path, const ModelSpec& spec);

}  // namespace podium
