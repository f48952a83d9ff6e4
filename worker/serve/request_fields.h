// The members of a request's body, each of its kind; every mistake is collected, with its JSON pointer.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

class RequestFields {
 public:
  // Members other than `known` are mistakes. The body outlives it.
  RequestFields(const nlohmann::json& body, std::initializer_list<std::string_view> known);

  bool has(const char* key) const { return body_.contains(key); }
  std::string text(const char* key);  // must be there; "" where it is not one
  std::optional<std::string> optional_text(const char* key);
  int number(const char* key, int otherwise, int least, int most);
  std::uint64_t seed(const char* key);  // 0 where it is not there
  double real(const char* key, double otherwise, double least, double most);
  bool flag(const char* key);
  void check_timeout();  // "timeout_ms", which stated_timeout() tells

  void refuse(const std::string& message, const char* key);
  const Errors& errors() const { return errors_; }

 private:
  const nlohmann::json& body_;
  Errors errors_;
};

// "timeout_ms" of the body, where it is one.
std::optional<std::chrono::milliseconds> stated_timeout(const nlohmann::json& body);

}  // namespace podium
