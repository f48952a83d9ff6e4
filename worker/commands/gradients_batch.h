// Reads a batch in the form that Hugging Face's models take: a safetensors file of integers, with input_ids,
// attention_mask, token_type_ids, labels (-100 for none) and next_sentence_label.
#pragma once

#include <filesystem>

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

// input_ids and labels are required and are [sequences, length]. attention_mask may be missing; it is 1 up to
// a length of each sequence and 0 beyond. This shifts GPT's labels: a position is scored against the label
// after it. Throws BadData, which names the file and the tensor.
MicroBatch read_gradients_batch(const std::filesystem::path& path, const ModelSpec& spec);

}  // namespace podium
