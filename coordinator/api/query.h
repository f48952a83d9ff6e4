// The query part of a request, read field by field. Mistakes are collected, and unknown names are mistakes;
// problems() has all of them once every field has been read.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace podium {

class Query {
 public:
  Query() = default;
  explicit Query(std::vector<std::pair<std::string, std::string>> fields) : fields_(std::move(fields)) {}

  std::optional<std::string> text(std::string_view name);
  std::vector<std::string> all(std::string_view name);  // of a field that may be repeated
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::int64_t integer_or(std::string_view name, std::int64_t fallback, std::int64_t least,
                          std::int64_t most);

  void refuse(std::string_view name, const std::string& why);
  Errors problems() const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  std::set<std::string, std::less<>> asked_;
  Errors problems_;
};

// Decimal digits only, within the range of the type.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace podium
