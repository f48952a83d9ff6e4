#include "cli/node_window.h"

#include "cli/fields.h"
#include "cli/moment.h"

namespace podium::cli {

using nlohmann::json;

bool begins_later(const json& window, std::int64_t now) {
  const json from = field(window, "from_ms");
  return from.is_number() && from.get<std::int64_t>() > now;
}

std::string window_text(const json& window, std::int64_t now) {
  const json until = field(window, "until_ms");
  std::string text;
  if (begins_later(window, now)) text += " from " + local_time(from_millis(field(window, "from_ms")));
  if (until.is_number()) text += " until " + local_time(from_millis(until));
  return text;
}

}  // namespace podium::cli
