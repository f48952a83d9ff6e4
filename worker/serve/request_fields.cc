#include "worker/serve/request_fields.h"

#include <spdlog/fmt/fmt.h>

#include "common/spec/json_body.h"

namespace podium {
namespace {

constexpr const char* kTimeout = "timeout_ms";
constexpr int kLongestTimeout = 3'600'000;  // ms

}  // namespace

RequestFields::RequestFields(const nlohmann::json& body, std::initializer_list<std::string_view> known)
    : body_(body) {
  refuse_unknown(body, known, errors_);
}

std::string RequestFields::text(const char* key) {
  need(body_, key, "a text", errors_);
  return optional_text(key).value_or("");
}

std::optional<std::string> RequestFields::optional_text(const char* key) {
  if (!has(key)) return std::nullopt;
  if (body_[key].is_string()) return body_[key].get<std::string>();
  refuse("must be a text", key);
  return std::nullopt;
}

int RequestFields::number(const char* key, int otherwise, int least, int most) {
  if (!has(key)) return otherwise;
  const std::optional<std::int64_t> number = whole_number(body_[key], least);
  if (number && *number <= most) return static_cast<int>(*number);
  refuse(fmt::format("must be a whole number from {} to {}", least, most), key);
  return otherwise;
}

std::uint64_t RequestFields::seed(const char* key) {
  if (!has(key)) return 0;
  if (body_[key].is_number_unsigned()) return body_[key].get<std::uint64_t>();
  refuse("must be a whole number from 0 to 18446744073709551615", key);
  return 0;
}

double RequestFields::real(const char* key, double otherwise, double least, double most) {
  if (!has(key)) return otherwise;
  const double number = body_[key].is_number() ? body_[key].get<double>() : least - 1;
  if (number >= least && number <= most) return number;
  refuse(fmt::format("must be a number from {} to {}", least, most), key);
  return otherwise;
}

bool RequestFields::flag(const char* key) {
  if (!has(key)) return false;
  if (body_[key].is_boolean()) return body_[key].get<bool>();
  refuse("must be true or false", key);
  return false;
}

void RequestFields::check_timeout() { number(kTimeout, 0, 1, kLongestTimeout); }

std::optional<std::chrono::milliseconds> stated_timeout(const nlohmann::json& body) {
  const auto stated = body.find(kTimeout);
  if (stated == body.end()) return std::nullopt;
  const std::optional<std::int64_t> timeout = whole_number(*stated, 1);
  if (!timeout || *timeout > kLongestTimeout) return std::nullopt;
  return std::chrono::milliseconds(*timeout);
}

void RequestFields::refuse(const std::string& message, const char* key) {
  podium::refuse(errors_, message, "/" + std::string(key));
}

}  // namespace podium
