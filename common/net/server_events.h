// Server-sent events, as GET /api/v1/live speaks them: reading them from bytes and writing them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podium {

struct ServerEvent {
  std::string id;    // for Last-Event-ID; "" when none was given
  std::string name;  // "message" when none was given
  std::string data;

  bool operator==(const ServerEvent&) const = default;
};

std::string format_event(const ServerEvent& event);

// Takes the stream in pieces of any size, gives whole events.
class ServerEventParser {
 public:
  void feed(std::string_view bytes) { pending_ += bytes; }
  std::optional<ServerEvent> next();

 private:
  void take_line(std::string_view line);

  std::string pending_;
  ServerEvent event_;
  bool has_data_ = false;
};

}  // namespace podium
