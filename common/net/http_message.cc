#include "common/net/http_message.h"

#include <algorithm>

namespace podium {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::set(std::string_view name, std::string value) {
  for (auto& [field, current] : fields_) {
    if (equal_ignoring_case(field, name)) {
      current = std::move(value);
      return;
    }
  }
  fields_.emplace_back(name, std::move(value));
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_)
    if (equal_ignoring_case(field, name)) return &value;
  return nullptr;
}

std::string Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value ? *value : std::string();
}

}  // namespace podium
