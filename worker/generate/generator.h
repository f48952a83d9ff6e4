// Prompts to text: requests wait for a slot of the session, are read, and go on together, each until it ends;
// then the next takes its slot.
#pragma once

#include <span>

#include "worker/generate/generation_batch.h"

namespace podium {

// Each request `count` times, as samples from its own on; the listener knows sample s of request r as
// r * count + s. Calls the listener in the order in which text comes, of any request. Throws what it throws,
// and BadData where the model's results are no numbers.
GenerationTotals generate(GenerationSession& session, const BpeTokenizer& tokenizer,
                          std::span<const GenerationRequest> requests, const GenerationRule& rule,
                          const GenerationListener& listener, std::size_t count = 1);

}  // namespace podium
