#include "worker/generate/generation_batch.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

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

void GenerationBatch::begin(std::size_t number, const GenerationRequest& request,
                            const GenerationRule& rule) {
  const auto begin = GenerationClock::now();
  const auto begun = session_.begin(request.prompt);
  PODIUM_CHECK(begun, "a request begins where a slot is free");
  Going going{.number = number,
              .slot = begun->slot,
              .rule = &rule,
              .max_tokens = request.max_tokens,
              .random = random_of(request, rule.seed),
              .text = TextStream(rule.stops),
              .first_token = GenerationClock::now()};
  going.done.prefill_seconds = seconds_between(begin, going.first_token);
  totals_.prompt_tokens += std::ssize(request.prompt);
  totals_.prefill_seconds += going.done.prefill_seconds;
  going_.push_back(std::move(going));
  if (goes_on(going_.back(), begun->logits)) return;
  Going ended = std::move(going_.back());
  going_.pop_back();
  end(ended);
}

void GenerationBatch::step() {
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

void GenerationBatch::leave(std::size_t number) {
  const auto found = std::ranges::find(going_, number, &Going::number);
  if (found == going_.end()) return;
  session_.end(found->slot);
  going_.erase(found);
}

void GenerationBatch::clear() {
  for (const Going& going : going_) session_.end(going.slot);
  going_.clear();
}

// Takes the next token, and tells the text that is known with it.
bool GenerationBatch::goes_on(Going& going, std::span<const float> logits) {
  const auto known = logits.first(static_cast<std::size_t>(tokenizer_.size()));  // the model's may be padded
  const std::int32_t token = sample_token(known, going.rule->sampling, going.random.uniform());
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
  return std::ssize(going.done.ids) < going.max_tokens;
}

void GenerationBatch::end(Going& going) {
  session_.end(going.slot);
  tell(going, going.text.finish());
  if (going.text.stopped()) going.done.reason = GenerationEnd::stop;
  going.done.decode_seconds = seconds_between(going.first_token, GenerationClock::now());
  listener_.on_end(going.number, going.done);
}

void GenerationBatch::tell(const Going& going, const std::string& text) {
  if (!text.empty()) listener_.on_text(going.number, text);
}

}  // namespace podium
