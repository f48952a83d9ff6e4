#include "common/mlperf/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace podium::mlperf {
namespace {

using nlohmann::json;

constexpr double kLatest = 4e15;  // ms: no clock shows more
constexpr std::size_t kLongestKey = 200, kLongestShown = 80;

// What keeps `object` from being a line of a log; "" where nothing does.
std::string defect_of(const json& object) {
  if (object.is_discarded()) return "the text behind :::MLLOG is not JSON";
  if (!object.is_object()) return "the text behind :::MLLOG is not a JSON object";
  for (const char* key : {"time_ms", "event_type", "key", "value", "metadata"})
    if (!object.contains(key)) return fmt::format("the line has no \"{}\"", key);
  if (const auto space = object.find("namespace"); space != object.end() && *space != "")
    return "namespace is not the empty text that MLPerf Training's is";
  const json& time = object["time_ms"];
  if (!time.is_number() || time.get<double>() < 0 || time.get<double>() > kLatest)
    return "time_ms is not a number of milliseconds since 1970";
  const json& event = object["event_type"];
  if (event != kStart && event != kStop && event != kPoint)
    return fmt::format("event_type is not {}, {} or {}", kStart, kStop, kPoint);
  const json& key = object["key"];
  if (!key.is_string() || key.get_ref<const std::string&>().empty() ||
      key.get_ref<const std::string&>().size() > kLongestKey)
    return "key is not a name";
  if (!object["metadata"].is_object()) return "metadata is not an object";
  return "";
}

void read_line(std::string_view text, std::int64_t number, Log& log) {
  if (text.size() > kLongestLine) {
    log.broken.push_back(
        {number, fmt::format("the line has {} bytes, where {} are the most", text.size(), kLongestLine)});
    return;
  }
  json object = json::parse(text, nullptr, false);
  if (std::string defect = defect_of(object); !defect.empty()) {
    log.broken.push_back({number, std::move(defect)});
    return;
  }
  log.lines.push_back({number, static_cast<std::int64_t>(object["time_ms"].get<double>()),
                       object["event_type"], object["key"], std::move(object["value"]),
                       std::move(object["metadata"])});
}

}  // namespace

std::optional<double> Line::number_in(const char* name) const {
  const auto found = metadata.find(name);
  return found != metadata.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::vector<const Line*> Log::all(std::string_view key) const {
  std::vector<const Line*> found;
  for (const Line& line : lines)
    if (line.key == key) found.push_back(&line);
  return found;
}

const Line* Log::first(std::string_view key) const {
  const auto found = std::ranges::find(lines, key, &Line::key);
  return found == lines.end() ? nullptr : &*found;
}

Log read_log(std::string_view text) {
  Log log;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t token = line.rfind(kToken);
    if (token == std::string_view::npos) continue;
    if (log.lines.size() + log.broken.size() == kMostLines) {
      log.broken.push_back(
          {number, fmt::format("the log has more than {} lines; the rest is not read", kMostLines)});
      break;
    }
    read_line(line.substr(token + kToken.size()), number, log);
  }
  return log;
}

std::string line_text(const Line& line) {
  nlohmann::ordered_json out;
  out["namespace"] = "";
  out["time_ms"] = line.time_ms;
  out["event_type"] = line.event;
  out["key"] = line.key;
  out["value"] = line.value;
  out["metadata"] = line.metadata;
  return fmt::format("{} {}\n", kToken, out.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string value_text(const json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kLongestShown ? text.substr(0, kLongestShown) + "…" : text;
}

}  // namespace podium::mlperf
