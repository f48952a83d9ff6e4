// Requests that are under way in a session, each by a rule of its own: they begin and leave between steps,
// whatever the others do. The same prompt several times in a row is read once. What a request gives follows
// from the model, its prompt, its sample's number and the rule alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/generate/generation_session.h"
#include "worker/generate/sampling.h"
#include "worker/generate/text_stream.h"
#include "worker/tensor/random.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

struct GenerationRule {
  SamplingRule sampling;
  std::uint64_t seed = 0;
  std::vector<std::string> stops;  // none is empty
  std::vector<std::int32_t> ends;  // tokens that end a text
};

struct GenerationRequest {
  std::vector<std::int32_t> prompt;  // at least one; together with max_tokens at most a slot and one token
  int sample = 0;                    // tells requests with the same prompt apart
  int max_tokens = 1;
};

enum class GenerationEnd { stop, length, end };  // a stop string, max_tokens, a token that ends a text
std::string_view to_string(GenerationEnd end);

struct Generation {
  std::vector<std::int32_t> ids;  // without a token that ends the text, with those of a stop string
  GenerationEnd reason = GenerationEnd::length;
  double prefill_seconds = 0;  // until the first token; 0 where the request before read the prompt
  double decode_seconds = 0;   // from there to the last, beside the other sequences
};

struct GenerationListener {
  std::function<void(std::size_t request, std::string_view text)> on_text;  // as far as it is known
  std::function<void(std::size_t request, const Generation&)> on_end;
  // The model's results for the request are no numbers, and it has left. Without it step() throws that.
  std::function<void(std::size_t request, const std::exception_ptr& why)> on_fail = nullptr;
};

// Of a run, beside those of its requests.
struct GenerationTotals {
  std::int64_t prompt_tokens = 0, steps_tokens = 0;  // read, and made by steps of one token a sequence
  double prefill_seconds = 0, decode_seconds = 0;

  double prefill_rate() const { return static_cast<double>(prompt_tokens) / prefill_seconds; }
  double decode_rate() const { return static_cast<double>(steps_tokens) / decode_seconds; }
};

class GenerationBatch {
 public:
  // Session and tokenizer outlive it. No other begins sequences of the session.
  GenerationBatch(GenerationSession& session, const BpeTokenizer& tokenizer, GenerationListener listener);

  bool empty() const { return going_.empty(); }
  std::size_t size() const { return going_.size(); }
  bool has_slot() const { return std::ssize(going_) < session_.slots(); }
  const GenerationTotals& totals() const { return totals_; }

  // Reads the prompt and takes the first token; a slot is free. The listener knows the request as `number`;
  // the rule outlives it. Where it throws, the request has not begun, and the others go on.
  void begin(std::size_t number, const GenerationRequest& request, const GenerationRule& rule);
  // Every request takes a token. Throws what the listener throws, and what keeps all from going on.
  void step();
  // The request leaves, without a word to the listener; or all do, as they must after step() has thrown.
  void leave(std::size_t number);
  void clear();

 private:
  struct Going {
    std::size_t number;
    int slot;
    const GenerationRule* rule;
    int max_tokens;
    Random random;
    TextStream text;
    Generation done;
    std::chrono::steady_clock::time_point first_token;
  };

  struct Drawn {
    std::int32_t token = 0;
    std::exception_ptr failed;  // in place of a token
  };

  // The prompt that was read last. Its slot keeps what is known of it until another prompt is read.
  struct ReadPrompt {
    std::vector<std::int32_t> ids;
    int slot = 0;
    std::vector<float> logits;  // of the token after it
  };

  int read(std::span<const std::int32_t> prompt);
  std::int32_t draw(Going& going, std::span<const float> logits) const;
  std::vector<Drawn> draw(std::span<float> logits);
  void drop_gaps(std::span<float> logits) const;
  bool goes_on(Going& going, std::int32_t token);
  void end(Going& going);
  void fail(const Going& going, const std::exception_ptr& why);
  void tell(const Going& going, const std::string& text);

  GenerationSession& session_;
  const BpeTokenizer& tokenizer_;
  GenerationListener listener_;
  std::vector<std::int32_t> gaps_;  // ids below the tokenizer's size that are no token
  ReadPrompt read_;
  std::vector<Going> going_;
  GenerationTotals totals_;
};

}  // namespace podium
