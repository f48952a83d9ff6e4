#include "agent/process/last_words.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace podium {
namespace {

constexpr std::size_t kLongest = 500;

// Takes the last line off `text`.
std::string_view take_last_line(std::string_view& text) {
  const std::size_t begin = text.rfind('\n');
  const std::string_view line = begin == std::string_view::npos ? text : text.substr(begin + 1);
  text = begin == std::string_view::npos ? std::string_view() : text.substr(0, begin);
  return line;
}

bool is_blank(std::string_view line) {
  return std::ranges::all_of(line, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; });
}

// Programs may print anything; what goes into JSON must be UTF-8.
std::string printable(std::string_view text) {
  const std::string dumped =
      nlohmann::json(text.substr(0, kLongest)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(dumped).get<std::string>();
}

// The first line that is not blank; "" where there is none.
std::string first_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!is_blank(line)) return printable(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return "";
}

std::string text_of(const nlohmann::json& event, const char* key) {
  return event.contains(key) && event[key].is_string() ? event[key].get<std::string>() : std::string();
}

// The last event that is `wanted`; null where there is none.
template <class Wanted>
nlohmann::json last_event(std::string_view events, const Wanted& wanted) {
  while (!events.empty()) {
    nlohmann::json event = nlohmann::json::parse(take_last_line(events), nullptr, false);
    if (event.is_object() && wanted(event)) return event;
  }
  return nullptr;
}

}  // namespace

std::string last_error_note(std::string_view events) {
  const auto note = last_event(events, [](const nlohmann::json& event) {
    return text_of(event, "type") == "note" && text_of(event, "level") == "error";
  });
  return note.is_null() ? "" : text_of(note, "message");
}

// {"message": "…"}, or {"message": {"message": "…", …}}.
std::string recorded_error(std::string_view file) {
  const nlohmann::json parsed = nlohmann::json::parse(file, nullptr, false);
  const nlohmann::json* error = &parsed;
  for (int level = 0; level < 2 && error->is_object() && error->contains("message"); ++level)
    error = &error->at("message");
  return error->is_string() ? first_line(error->get_ref<const std::string&>()) : "";
}

// {"message": {"extraInfo": {"timestamp": "1671400000"}}}, or {"timestamp": 1671400000}.
std::int64_t recorded_seconds(std::string_view file) {
  const nlohmann::json parsed = nlohmann::json::parse(file, nullptr, false);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const nlohmann::json* at = &parsed;
  for (const char* key : {"message", "extraInfo"})
    if (at->is_object() && at->contains(key) && at->at(key).is_object()) at = &at->at(key);
  if (!at->is_object() || !at->contains("timestamp")) return 0;
  const nlohmann::json& told = at->at("timestamp");
  std::int64_t seconds = told.is_number_integer() ? told.get<std::int64_t>() : 0;
  if (told.is_string()) {
    const auto& text = told.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), seconds);
  }
  return seconds > 0 && seconds < kMost ? seconds : 0;
}

bool says_preempted(std::string_view events) {
  const auto finished =
      last_event(events, [](const nlohmann::json& event) { return text_of(event, "type") == "finished"; });
  return !finished.is_null() && text_of(finished, "status") == "preempted";
}

std::string last_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_last_line(text);
    if (!is_blank(line)) return printable(line);
  }
  return "";
}

}  // namespace podium
