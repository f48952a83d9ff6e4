#include "coordinator/api/spec_problems.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/spec/yaml_document.h"

namespace podium {
namespace {

// Where the job's name begins and ends in `job "sweep-3" asks for …`; both 0 where it names none.
std::pair<std::size_t, std::size_t> name_in(const std::string& message) {
  constexpr std::string_view kJob = "job \"";
  if (!message.starts_with(kJob)) return {0, 0};
  const std::size_t end = message.find('"', kJob.size());
  return end == std::string::npos ? std::pair<std::size_t, std::size_t>{0, 0} : std::pair{kJob.size(), end};
}

// Errors that differ in their job alone become the first of them.
Errors folded(const Errors& errors) {
  Errors first;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> seen;  // place, others
  for (const Error& error : errors) {
    std::string text = error.message;
    const auto [begin, end] = name_in(text);
    text.erase(begin, end - begin);
    const auto [known, fresh] = seen.try_emplace({error.where, text}, first.size(), 0);
    if (fresh)
      first.push_back(error);
    else if (end > begin)
      ++known->second.second;
  }
  for (const auto& [text, place] : seen)
    if (const auto others = place.second; others > 0)
      first[place.first].message +=
          " (and so " +
          (others == 1 ? std::string("does 1 other job)") : "do " + std::to_string(others) + " other jobs)");
  return first;
}

// An objection to a job of a list may be about what stands around the list.
std::string placed(const nlohmann::json& document, const std::string& pointer) {
  constexpr std::string_view kJobs = "/jobs/";
  const std::size_t end = pointer.starts_with(kJobs) ? pointer.find('/', kJobs.size()) : std::string::npos;
  if (end == std::string::npos || document.contains(nlohmann::json::json_pointer(pointer))) return pointer;
  const std::string around = pointer.substr(end);
  return document.contains(nlohmann::json::json_pointer(around)) ? around : pointer;
}

}  // namespace

Errors told_of_spec(Errors errors, const Submission& submission) {
  SourceMap places;
  Problems unread(submission.file, places);
  const auto document = read_yaml(submission.spec, places, unread);
  for (Error& error : errors) {
    if (!error.where.starts_with('/')) continue;
    error.pointer = document ? placed(*document, error.where) : error.where;
    error.where = format_place(submission.file, places.value(error.pointer));
  }
  return folded(errors);
}

std::optional<std::string> sound_part(const Submission& submission, const Errors& errors) {
  std::set<std::string> refused;
  for (const Error& error : errors) refused.insert(error.pointer);
  SourceMap places;
  Problems unread(submission.file, places);
  std::optional<nlohmann::json> document = read_yaml(submission.spec, places, unread);
  if (!document || !unread.empty()) return std::nullopt;
  for (const std::string& pointer : refused) {
    const auto asks = [&](const char* part) { return pointer.starts_with(part); };
    if (std::ranges::any_of(std::array{"/resources", "/parallel", "/scaling", "/sweep", "/jobs"}, asks))
      return std::nullopt;
    const nlohmann::json::json_pointer at(pointer);
    if (at.empty() || !document->contains(at)) return std::nullopt;
    nlohmann::json& around = document->at(at.parent_pointer());
    if (!around.is_object()) return std::nullopt;
    around.erase(at.back());
  }
  return document->dump();
}

}  // namespace podium
