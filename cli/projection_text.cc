#include "cli/projection_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/fields.h"
#include "cli/humanise.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// "12m (10m to 18m)"
std::string quantiles_text(const json& quantiles, const std::function<std::string(std::int64_t)>& text) {
  const json p10 = field(quantiles, "p10"), p50 = field(quantiles, "p50"), p90 = field(quantiles, "p90");
  const std::string least = text(p10.get<std::int64_t>());
  if (p50.is_null()) return least + " or later";
  const std::string most = p90.is_null() ? " or later" : " to " + text(p90.get<std::int64_t>());
  return fmt::format("{} ({}{})", text(p50.get<std::int64_t>()), least, most);
}

// "in 12m (10m to 18m)"; "" where nobody can say.
std::string time_text(const json& projection, std::int64_t now) {
  const json time = field(projection, "time_ms");
  if (field(time, "p10").is_null()) return "";
  return "in " + quantiles_text(time, [now](std::int64_t millis) {
           return human_seconds(static_cast<double>(std::max<std::int64_t>(millis - now, 0)) / 1000);
         });
}

}  // namespace

std::string projection_text(const json& projection, std::int64_t now) {
  if (const std::string doubt = text_field(projection, "doubt"); !doubt.empty()) return doubt;
  const json step = field(projection, "step");
  if (field(step, "p10").is_null()) return "";
  const std::string time = time_text(projection, now);
  return "at step " + quantiles_text(step, human_count) + (time.empty() ? "" : ", " + time);
}

std::string target_in_text(const json& projection, std::int64_t now) {
  const std::string time = text_field(projection, "doubt").empty() ? time_text(projection, now) : "";
  return time.empty() ? "" : "target " + time;
}

}  // namespace podium::cli
