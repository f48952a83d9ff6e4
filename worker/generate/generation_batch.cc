#include "worker/generate/generation_batch.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace podium {
namespace {

using GenerationClock = std::chrono::steady_clock;

double seconds_between(GenerationClock::time_point from, GenerationClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// The draws of a request, by a hash of its prompt: where it stands among the others does not matter.
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

GenerationBatch::GenerationBatch(GenerationSession& session, const BpeTokenizer& tokenizer,
                                 GenerationListener listener)
    : session_(session), tokenizer_(tokenizer), listener_(std::move(listener)) {
  for (std::int32_t id = tokenizer.vocabulary().size(); id < tokenizer.size(); ++id)
    if (tokenizer.token(id).empty()) gaps_.push_back(id);
}

int GenerationBatch::read(std::span<const std::int32_t> prompt) {
  read_.ids.clear();  // should reading fail
  auto begun = session_.begin(prompt);
  PODIUM_CHECK(begun, "a request begins where a slot is free");
  drop_gaps(begun->logits);
  read_ = {{prompt.begin(), prompt.end()}, begun->slot, std::move(begun->logits)};
  return begun->slot;
}

void GenerationBatch::begin(std::size_t number, const GenerationRequest& request,
                            const GenerationRule& rule) {
  const auto begin = GenerationClock::now();
  const bool is_read = read_.ids == request.prompt;
  const std::optional<int> slot =
      is_read ? session_.begin_as(read_.slot, static_cast<int>(read_.ids.size())) : read(request.prompt);
  PODIUM_CHECK(slot, "a request begins where a slot is free");
  Going going{.number = number,
              .slot = *slot,
              .rule = &rule,
              .max_tokens = request.max_tokens,
              .random = random_of(request, rule.seed),
              .text = TextStream(rule.stops),
              .first_token = GenerationClock::now()};
  if (!is_read) {
    going.done.prefill_seconds = seconds_between(begin, going.first_token);
    totals_.prompt_tokens += std::ssize(request.prompt);
    totals_.prefill_seconds += going.done.prefill_seconds;
  }
  going_.push_back(std::move(going));
  try {
    if (goes_on(going_.back(), draw(going_.back(), read_.logits))) return;
  } catch (...) {
    leave(number);
    throw;
  }
  Going ended = std::move(going_.back());
  going_.pop_back();
  end(ended);
}

void GenerationBatch::step() {
  const auto begin = GenerationClock::now();
  std::vector<GenerationSession::Next> next;
  for (const Going& going : going_) next.push_back({going.slot, going.done.ids.back()});
  std::vector<float> logits = session_.extend(next);
  const std::vector<Drawn> drawn = draw(logits);
  std::vector<Going> still;
  for (std::size_t i = 0; i < going_.size(); ++i) {
    if (drawn[i].failed)
      fail(going_[i], drawn[i].failed);
    else if (goes_on(going_[i], drawn[i].token))
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

void GenerationBatch::drop_gaps(std::span<float> logits) const {
  for (const std::int32_t id : gaps_) logits[static_cast<std::size_t>(id)] = -INFINITY;
}

std::int32_t GenerationBatch::draw(Going& going, std::span<const float> logits) const {
  const auto known = logits.first(static_cast<std::size_t>(tokenizer_.size()));  // the model's may be padded
  return sample_token(known, going.rule->sampling, going.random.uniform());
}

// Of each that is under way, from its row.
std::vector<GenerationBatch::Drawn> GenerationBatch::draw(std::span<float> logits) {
  const auto vocabulary = static_cast<std::size_t>(session_.vocabulary());
  std::vector<Drawn> drawn(going_.size());
#pragma omp parallel for num_threads(session_.threads())
  for (std::size_t i = 0; i < going_.size(); ++i) {
    try {
      const auto row = logits.subspan(i * vocabulary, vocabulary);
      drop_gaps(row);
      drawn[i].token = draw(going_[i], row);
    } catch (...) {
      drawn[i].failed = std::current_exception();
    }
  }
  return drawn;
}

// Takes the token, and tells the text that is known with it.
bool GenerationBatch::goes_on(Going& going, std::int32_t token) {
  if (std::ranges::find(going.rule->ends, token) != going.rule->ends.end()) {
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

void GenerationBatch::fail(const Going& going, const std::exception_ptr& why) {
  session_.end(going.slot);
  if (!listener_.on_fail) std::rethrow_exception(why);
  listener_.on_fail(going.number, why);
}

void GenerationBatch::tell(const Going& going, const std::string& text) {
  if (!text.empty()) listener_.on_text(going.number, text);
}

}  // namespace podium
