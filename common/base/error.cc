#include "common/base/error.h"

namespace podium {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::unauthorized:
      return "unauthorized";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::unavailable:
      return "unavailable";
  }
  PODIUM_CHECK(false, "unknown ErrorCode");
}

std::string describe(const Errors& errors) {
  std::string text;
  for (const Error& error : errors) {
    if (!text.empty()) text += '\n';
    if (!error.where.empty()) text += error.where + ": ";
    text += error.message;
  }
  return text;
}

}  // namespace podium
