// Prompts to text: requests wait for a slot of the session, are read, and go on together, each until it ends;
// then the next takes its slot. What a request gives follows from the model, its prompt, its sample's number
// and the rule alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/generate/generation_session.h"
#include "worker/generate/sampling.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

struct GenerationRule {
  SamplingRule sampling;
  std::uint64_t seed = 0;
  std::vector<std::string> stops;  // none is empty
};

struct GenerationRequest {
  std::vector<std::int32_t> prompt;  // at least one; together with max_tokens at most a slot and one token
  int sample = 0;                    // tells requests with the same prompt apart
  int max_tokens = 1;
};

enum class GenerationEnd { stop, length, end };  // a stop string, max_tokens, the token that ends a text
std::string_view to_string(GenerationEnd end);

struct Generation {
  std::vector<std::int32_t> ids;  // without a token that ends the text, with those of a stop string
  GenerationEnd reason = GenerationEnd::length;
  double prefill_seconds = 0;  // until the first token
  double decode_seconds = 0;   // from there to the last, beside the other sequences
};

struct GenerationListener {
  std::function<void(std::size_t request, std::string_view text)> on_text;  // as far as it is known
  std::function<void(std::size_t request, const Generation&)> on_end;
};

// Of a run, beside those of its requests.
struct GenerationTotals {
  std::int64_t prompt_tokens = 0, steps_tokens = 0;  // read, and made by steps of one token a sequence
  double prefill_seconds = 0, decode_seconds = 0;

  double prefill_rate() const { return static_cast<double>(prompt_tokens) / prefill_seconds; }
  double decode_rate() const { return static_cast<double>(steps_tokens) / decode_seconds; }
};

// Calls the listener in the order in which text comes, of any request. Throws what it throws, and BadData
// where the model's results are no numbers.
GenerationTotals generate(GenerationSession& session, const BpeTokenizer& tokenizer,
                          std::span<const GenerationRequest> requests, const GenerationRule& rule,
                          const GenerationListener& listener);

}  // namespace podium
