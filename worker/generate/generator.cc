#include "worker/generate/generator.h"

#include <algorithm>
#include <chrono>

#include "worker/generate/text_stream.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

using GenerationClock = std::chrono::steady_clock;

double seconds_between(GenerationClock::time_point from, GenerationClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// The draws of a request, by FNV-1a of its prompt: where it stands among the others does not matter.
Random random_of(const GenerationRequest& request, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::int32_t value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001b3;
  };
  for (const std::int32_t id : request.prompt) add(id);
  add(request.sample);
  return {seed, hash};
}

// A request that is under way.
struct Going {
  std::size_t request;
  int slot;
  Random random;
  TextStream text;
  Generation done;
  GenerationClock::time_point first_token;
};

class GenerationRun {
 public:
  GenerationRun(GenerationSession& session, const BpeTokenizer& tokenizer,
                std::span<const GenerationRequest> requests, const GenerationRule& rule,
                const GenerationListener& listener)
      : session_(session), tokenizer_(tokenizer), requests_(requests), rule_(rule), listener_(listener) {}

  GenerationTotals run() {
    while (true) {
      while (waiting_ < requests_.size() && begin_next()) {
      }
      if (going_.empty()) return totals_;
      step();
    }
  }

 private:
  // False where all slots are taken.
  bool begin_next() {
    const GenerationRequest& request = requests_[waiting_];
    const auto begin = GenerationClock::now();
    const auto begun = session_.begin(request.prompt);
    if (!begun) return false;
    Going going{.request = waiting_++,
                .slot = begun->slot,
                .random = random_of(request, rule_.seed),
                .text = TextStream(rule_.stops),
                .first_token = GenerationClock::now()};
    going.done.prefill_seconds = seconds_between(begin, going.first_token);
    totals_.prompt_tokens += std::ssize(request.prompt);
    totals_.prefill_seconds += going.done.prefill_seconds;
    if (goes_on(going, begun->logits))
      going_.push_back(std::move(going));
    else
      end(going);
    return true;
  }

  void step() {
    const auto begin = GenerationClock::now();
    std::vector<GenerationSession::Next> next;
    for (const Going& going : going_) next.push_back({going.slot, going.done.ids.back()});
    const std::vector<float> logits = session_.extend(next);
    const auto vocabulary = static_cast<std::size_t>(session_.vocabulary());
    std::vector<Going> still;
    for (std::size_t i = 0; i < going_.size(); ++i) {
      if (goes_on(going_[i], std::span(logits).subspan(i * vocabulary, vocabulary)))
        still.push_back(std::move(going_[i]));
      else
        end(going_[i]);
    }
    going_ = std::move(still);
    totals_.steps_tokens += std::ssize(next);
    totals_.decode_seconds += seconds_between(begin, GenerationClock::now());
  }

  // Takes the next token, and tells the text that is known with it.
  bool goes_on(Going& going, std::span<const float> logits) {
    const auto known =
        logits.first(static_cast<std::size_t>(tokenizer_.size()));  // the model's may be padded
    const std::int32_t token = sample_token(known, rule_.sampling, going.random.uniform());
    if (token == tokenizer_.vocabulary().end_of_text()) {
      going.done.reason = GenerationEnd::end;
      return false;
    }
    going.done.ids.push_back(token);
    tell(going, going.text.add(tokenizer_.token(token)));
    if (going.text.stopped()) {
      going.done.reason = GenerationEnd::stop;
      return false;
    }
    return std::ssize(going.done.ids) < requests_[going.request].max_tokens;
  }

  void end(Going& going) {
    session_.end(going.slot);
    tell(going, going.text.finish());
    if (going.text.stopped()) going.done.reason = GenerationEnd::stop;
    going.done.decode_seconds = seconds_between(going.first_token, GenerationClock::now());
    listener_.on_end(going.request, going.done);
  }

  void tell(const Going& going, const std::string& text) {
    if (!text.empty()) listener_.on_text(going.request, text);
  }

  GenerationSession& session_;
  const BpeTokenizer& tokenizer_;
  std::span<const GenerationRequest> requests_;
  const GenerationRule& rule_;
  const GenerationListener& listener_;
  std::size_t waiting_ = 0;  // the first request that has not begun
  std::vector<Going> going_;
  GenerationTotals totals_;
};

}  // namespace

std::string_view to_string(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::stop:
      return "stop";
    case GenerationEnd::length:
      return "length";
    case GenerationEnd::end:
      return "end";
  }
  return "";
}

GenerationTotals generate(GenerationSession& session, const BpeTokenizer& tokenizer,
                          std::span<const GenerationRequest> requests, const GenerationRule& rule,
                          const GenerationListener& listener) {
  return GenerationRun(session, tokenizer, requests, rule, listener).run();
}

}  // namespace podium
