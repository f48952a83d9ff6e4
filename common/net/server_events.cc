#include "common/net/server_events.h"

#include <utility>

namespace podium {

std::string format_event(const ServerEvent& event) {
  std::string out;
  if (!event.id.empty()) out += "id: " + event.id + "\n";
  if (!event.name.empty()) out += "event: " + event.name + "\n";
  std::size_t at = 0;
  while (true) {
    const std::size_t end = event.data.find('\n', at);
    out.append("data: ").append(event.data, at, end - at).append("\n");
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return out + "\n";
}

std::optional<ServerEvent> ServerEventParser::next() {
  std::size_t at = 0;
  std::optional<ServerEvent> found;
  while (!found) {
    const std::size_t end = pending_.find('\n', at);
    if (end == std::string::npos) break;
    std::string_view line(pending_.data() + at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    at = end + 1;
    if (!line.empty()) {
      take_line(line);
    } else {
      if (has_data_) {
        if (event_.name.empty()) event_.name = "message";
        found = std::move(event_);
      }
      event_ = {};
      has_data_ = false;
    }
  }
  pending_.erase(0, at);
  return found;
}

void ServerEventParser::take_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  } else if (field == "id") {
    event_.id = value;
  }
}

}  // namespace podium
