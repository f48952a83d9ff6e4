#include "common/spec/source_map.h"

namespace podium {

SourceMap::Entry SourceMap::find(std::string_view pointer) const {
  std::string at(pointer);
  while (true) {
    if (const auto found = entries_.find(at); found != entries_.end()) return found->second;
    const auto slash = at.rfind('/');
    if (slash == std::string::npos) return {};
    at.resize(slash);
  }
}

std::string pointer_step(std::string_view key) {
  std::string step;
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

}  // namespace podium
