// Errors that a user can fix, as values. They are collected: a reply names every problem, not only the first.
// Failures of the world (sockets, disks, SQLite) are exceptions instead; see docs/architecture.md, "Errors".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/check.h"

namespace podium {

enum class ErrorCode { invalid, not_found, conflict, unauthorized, forbidden, too_large, unavailable };

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;    // what is wrong with which object, and what to do next
  std::string where;      // "quickstart.yaml:12:3", "" when it has no place
  std::string pointer{};  // of the value in its document, as a JSON pointer: "/training/batch/micro"

  bool operator==(const Error&) const = default;
};

using Errors = std::vector<Error>;

// One line an error: "where: message".
std::string describe(const Errors& errors);

// A value, or the (non-empty) list of what is wrong.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(Errors{std::move(error)}) {}
  Result(Errors errors) : state_(std::move(errors)) {
    PODIUM_CHECK(!std::get<Errors>(state_).empty(), "a failed Result needs an error");
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    PODIUM_CHECK(ok(), describe(std::get<Errors>(state_)));
    return std::get<T>(state_);
  }
  T&& value() && {
    PODIUM_CHECK(ok(), describe(std::get<Errors>(state_)));
    return std::get<T>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }

  const Errors& errors() const {
    static const Errors none;
    return ok() ? none : std::get<Errors>(state_);
  }

 private:
  std::variant<T, Errors> state_;
};

}  // namespace podium
