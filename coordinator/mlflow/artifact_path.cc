#include "coordinator/mlflow/artifact_path.h"

#include <algorithm>
#include <optional>

#include "common/base/text.h"
#include "common/spec/yaml_text.h"
#include "coordinator/mlflow/run_id.h"
#include "coordinator/store/run_words.h"

namespace podium::mlflow {
namespace {

constexpr std::size_t kLongestPath = 3000;  // bytes; Linux takes 4095 with the home's
constexpr std::size_t kLongestPart = 255;   // of a file system
constexpr std::string_view kArtifacts = "artifacts";

std::string shown(std::string_view path) {
  return "\"" + (is_utf8(path) ? cut_text(std::string(path), 200) : "(not UTF-8)") + "\"";
}

Error bad_path(std::string_view path, const std::string& why) {
  return {ErrorCode::invalid, "the path " + shown(path) + " of an artifact " + why, ""};
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::optional<std::string> fault_of_part(std::string_view part) {
  if (part.empty()) return "has an empty part: write it without // and without / at its ends";
  if (part == "." || part == "..") return "must not have . and .. as parts";
  if (part.size() > kLongestPart) return "has a part of more than 255 bytes";
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> artifact_parts(std::string_view decoded) {
  if (decoded.size() > kLongestPath) return bad_path(decoded, "is longer than 3000 bytes");
  if (!is_utf8(decoded)) return bad_path(decoded, "is not UTF-8");
  if (std::ranges::any_of(decoded, is_control)) return bad_path("", "must not have control characters");
  if (decoded.find_first_of("\\#") != decoded.npos) return bad_path(decoded, "must not have \\ or #");
  if (decoded.starts_with('/')) return bad_path(decoded, "must be a relative one");
  std::vector<std::string> parts;
  for (std::string_view rest = decoded; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    if (const auto fault = fault_of_part(part)) return bad_path(decoded, *fault);
    parts.emplace_back(part);
    if (slash + 1 == rest.size()) return bad_path(decoded, *fault_of_part(""));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return parts;
}

Result<ArtifactPath> parse_artifact_path(std::string_view decoded, std::string_view cluster) {
  Result<std::vector<std::string>> parts = artifact_parts(decoded);
  if (!parts) return parts.errors();
  for (std::size_t i = 0; i + 1 < parts->size(); ++i) {
    if ((*parts)[i + 1] != kArtifacts) continue;
    const std::optional<JobId> run = job_of((*parts)[i], cluster);
    if (!run) continue;
    std::vector<std::string> below = std::move(parts).value();
    below.erase(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return ArtifactPath{*run, std::move(below)};
  }
  return Error{ErrorCode::not_found,
               shown(decoded) +
                   " is below no run's folder: that is <experiment>/<run id>/artifacts, as "
                   "the artifact_uri of runs here says",
               ""};
}

std::optional<std::string> kept_path(const std::string& artifact_uri) {
  const std::string scheme = kArtifactScheme;
  if (!artifact_uri.starts_with(scheme) || artifact_uri.starts_with(scheme + "/")) return std::nullopt;
  return artifact_uri.substr(scheme.size());
}

}  // namespace podium::mlflow
