#include "worker/comm/rendezvous_board.h"

#include <algorithm>
#include <charconv>

#include "worker/comm/rendezvous.h"

namespace podium {
namespace {

// What stands before the next NUL, which is taken off `arguments`; all of it where there is none.
std::string_view next_argument(std::string_view& arguments) {
  const std::string_view word = arguments.substr(0, arguments.find('\0'));
  arguments.remove_prefix(std::min(arguments.size(), word.size() + 1));
  return word;
}

// A whole number from 0 to `most`, or nothing.
std::optional<std::int64_t> next_number(std::string_view& arguments, std::int64_t most) {
  const std::string_view word = next_argument(arguments);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0 || number > most)
    return std::nullopt;
  return number;
}

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kLongestWait = std::int64_t{1000} * 60 * 60 * 24 * 365;  // milliseconds

}  // namespace

bool RendezvousBoard::take(std::uint64_t client, std::string_view request, Time now, Answers& answers) {
  if (request.empty()) return false;
  std::string_view arguments = request.substr(1);
  switch (request.front()) {
    case 'G':
      go_on(client, {.key = std::string(arguments)}, answers);
      return true;
    case 'W':
      return wait_for_all(client, arguments, now, answers);
    case 'P': {
      std::optional<std::string> parts = parts_of_all(arguments);
      if (parts) answers.emplace_back(client, "V" + *std::move(parts));
      return parts.has_value();
    }
    case 'A':
      announced_[client] = arguments;
      answers.emplace_back(client, "K");
      return true;
    case 'S': {
      if (arguments.find('\0') == std::string_view::npos) return false;
      const std::string key(next_argument(arguments));
      answers.emplace_back(client, "K");
      set(key, arguments, answers);
      return true;
    }
    default:
      return false;
  }
}

void RendezvousBoard::leave(std::uint64_t client, Answers& answers) {
  waiting_.erase(client);
  const auto announced = announced_.extract(client);
  if (announced && !values_.contains(kGoneKey)) set(kGoneKey, announced.mapped(), answers);
}

void RendezvousBoard::expire(Time now, Answers& answers) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.until <= now) {
      answers.emplace_back(it->first, "M" + std::to_string(it->second.next));
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
}

void RendezvousBoard::set(const std::string& key, std::string_view value, Answers& answers) {
  values_[key] = value;
  const auto found = waiting_for_.extract(key);
  if (!found) return;
  for (const std::uint64_t client : found.mapped()) {
    const auto waiting = waiting_.find(client);
    if (waiting == waiting_.end() || waiting->second.missing() != key) continue;  // it left, or gave up
    Waiting its = std::move(waiting->second);
    waiting_.erase(waiting);
    go_on(client, std::move(its), answers);
  }
}

bool RendezvousBoard::wait_for_all(std::uint64_t client, std::string_view arguments, Time now,
                                   Answers& answers) {
  const std::string prefix(next_argument(arguments));
  const auto count = next_number(arguments, kMostRanks);
  const auto most = next_number(arguments, kLongestWait);
  if (!count || *count == 0 || !most) return false;
  go_on(client, {prefix, static_cast<int>(*count), 0, now + std::chrono::milliseconds(*most)}, answers);
  return true;
}

// Answers, or lets the client wait for what is missing next.
void RendezvousBoard::go_on(std::uint64_t client, Waiting waiting, Answers& answers) {
  if (waiting.count == 0) {
    if (const auto value = values_.find(waiting.key); value != values_.end())
      return void(answers.emplace_back(client, "V" + value->second));
  } else {
    while (waiting.next < waiting.count && values_.contains(waiting.missing())) ++waiting.next;
    if (waiting.next == waiting.count) return void(answers.emplace_back(client, "K"));
  }
  waiting_for_[waiting.missing()].push_back(client);
  waiting_.insert_or_assign(client, std::move(waiting));
}

std::optional<std::string> RendezvousBoard::parts_of_all(std::string_view arguments) const {
  const std::string prefix(next_argument(arguments));
  const auto count = next_number(arguments, kMostRanks);
  const auto begin = next_number(arguments, kLargestFrame);
  const auto size = next_number(arguments, kLargestFrame);
  if (!count || !begin || !size || *count * *size >= static_cast<std::int64_t>(kLargestFrame))
    return std::nullopt;
  std::string parts;
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto value = values_.find(prefix + std::to_string(i));
    if (value == values_.end() || value->second.size() < static_cast<std::size_t>(*begin + *size))
      return std::nullopt;
    parts.append(value->second, static_cast<std::size_t>(*begin), static_cast<std::size_t>(*size));
  }
  return parts;
}

}  // namespace podium
