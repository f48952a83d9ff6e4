#include "coordinator/store/run_inputs.h"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/model/codec.h"
#include "coordinator/store/one_row.h"

namespace podium {
namespace {

using nlohmann::json;

std::string key_of(const json& tag) {
  const json key = tag.is_object() ? tag.value("key", json()) : json();
  return key.is_string() ? key.get<std::string>() : "";
}

json tags_in(const json& body) {
  json tags = body.is_object() ? body.value("tags", json()) : json();
  return tags.is_array() ? tags : json::array();
}

// `body` with those tags of `before` whose keys it does not name.
std::string with_tags_of(const std::string& before, const std::string& body) {
  const json known = tags_in(json::parse(before, nullptr, false));
  if (known.empty()) return body;
  json now = json::parse(body);
  json tags = tags_in(now);
  std::set<std::string> told;
  for (const json& tag : tags) told.insert(key_of(tag));
  for (const json& tag : known)
    if (told.insert(key_of(tag)).second) tags.push_back(tag);
  now["tags"] = std::move(tags);
  return dump(now);
}

}  // namespace

RunInputs::RunInputs(Database& db, RunBytes& bytes)
    : bytes_(bytes),
      count_(db, "SELECT count(*) FROM run_inputs WHERE job = ?1"),
      find_(db, "SELECT body FROM run_inputs WHERE job = ?1 AND kind = ?2 AND id = ?3"),
      put_(db, "INSERT OR REPLACE INTO run_inputs (job, kind, id, body) VALUES (?1, ?2, ?3, ?4)") {}

std::optional<std::string> RunInputs::known_body(JobId run, const RunInput& input) {
  std::optional<std::string> body;
  for (find_.start(run.value, input.kind, input.id); find_.next();) body = find_.text(0);
  return body;
}

std::optional<Error> RunInputs::add(JobId run, const std::vector<RunInput>& inputs) {
  std::vector<RunInput> written;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // in it
  std::int64_t fresh = 0, more = 0;
  for (const RunInput& input : inputs) {
    const auto [place, is_first] = places.try_emplace({input.kind, input.id}, written.size());
    if (is_first) written.push_back(input);
    std::string& body = written[place->second].body;
    const std::optional<std::string> before = is_first ? known_body(run, input) : std::optional(body);
    fresh += !before;
    body = before && input.kind == "dataset" ? with_tags_of(*before, input.body) : input.body;
    if (std::ssize(body) > kLargestRunInput)
      return Error{ErrorCode::invalid,
                   "the " + input.kind + " has more than 256 KiB, with the tags that it had before", ""};
    more += std::ssize(body) - (before ? std::ssize(*before) : 0);
  }
  if (fresh > 0 && number_in(count_.start(run.value)) + fresh > kMostRunInputs)
    return Error{ErrorCode::invalid, fmt::format("a run may have {} datasets and models", kMostRunInputs),
                 ""};
  if (auto error = bytes_.refuse(run, more)) return error;
  bytes_.add(run, more);
  for (const RunInput& input : written) put_.run(run.value, input.kind, input.id, input.body);
  return std::nullopt;
}

}  // namespace podium
