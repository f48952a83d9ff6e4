// HTTP requests and responses as plain values; the library that moves them stays inside common/net.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

// Field names compare without case, as HTTP says.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void set(std::string_view name, std::string value);  // replaces
  const std::string* find(std::string_view name) const;
  std::string get(std::string_view name) const;  // "" when absent

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded as on the wire
  Headers headers;
  std::string body;
  // Repeating the request is harmless, so it is sent again where a kept connection turns out to be dead. GET
  // and HEAD are always repeatable.
  bool repeatable = false;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;

  bool ok() const { return status >= 200 && status < 300; }
};

// Compares ASCII letters without case.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace podium
