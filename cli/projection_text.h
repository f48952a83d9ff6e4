// What GET /jobs/{id}/projection tells, as a line of text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace podium::cli {

// "at step 4,200 (3,900 to 5,100), in 12m00s (10m00s to 18m00s)", or why nobody can say; `now` in
// milliseconds.
std::string projection_text(const nlohmann::json& projection, std::int64_t now);

// "target in 12m00s (10m00s to 18m00s)"; "" where nobody can say.
std::string target_in_text(const nlohmann::json& projection, std::int64_t now);

}  // namespace podium::cli
