#include "coordinator/specs/spec_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/base/logging.h"

namespace podium {
namespace {

using nlohmann::json;

const char* state_of(const SpecStatus& spec) {
  if (spec.experiment) return "submitted";
  return spec.problems.empty() ? "left" : "refused";
}

json to_json(const SpecStatus& spec) {
  json problems = json::array();
  for (const Error& error : spec.problems)
    problems.push_back({{"where", error.where}, {"message", error.message}});
  return {{"path", spec.path},
          {"commit", spec.commit},
          {"state", state_of(spec)},
          {"experiment", spec.experiment ? json(spec.experiment->value) : json(nullptr)},
          {"problems", std::move(problems)}};
}

json to_json(const std::vector<SpecStatus>& specs) {
  json out = json::array();
  for (const SpecStatus& spec : specs) out.push_back(to_json(spec));
  return out;
}

SpecStatus spec_from(const json& in) {
  SpecStatus spec{in.at("path"), in.at("commit"), {}, {}};
  if (!in.at("experiment").is_null()) spec.experiment = ExperimentId{in.at("experiment")};
  for (const json& problem : in.at("problems"))
    spec.problems.push_back({ErrorCode::invalid, problem.at("message"), problem.at("where")});
  return spec;
}

auto place_of(std::vector<SpecStatus>& specs, const std::string& path) {
  return std::ranges::lower_bound(specs, path, {}, &SpecStatus::path);
}

}  // namespace

json to_json(const SpecRepositoryStatus& status) {
  const SpecRepository& repository = status.repository;
  return {{"name", repository.name},
          {"url", repository.url},
          {"branch", repository.branch},
          {"files", repository.files},
          {"commit", status.commit},
          {"checked_ms", status.checked == Time{} ? json(nullptr) : json(to_millis(status.checked))},
          {"error", status.error},
          {"specs", to_json(status.specs)}};
}

void put_spec(std::vector<SpecStatus>& specs, SpecStatus spec) {
  const auto at = place_of(specs, spec.path);
  if (at != specs.end() && at->path == spec.path)
    *at = std::move(spec);
  else
    specs.insert(at, std::move(spec));
}

void move_spec(std::vector<SpecStatus>& specs, const std::string& from, const std::string& to) {
  const auto at = place_of(specs, from);
  if (at == specs.end() || at->path != from) return;
  SpecStatus spec = std::move(*at);
  specs.erase(at);
  spec.path = to;
  put_spec(specs, std::move(spec));
}

void remove_spec(std::vector<SpecStatus>& specs, const std::string& path) {
  std::erase_if(specs, [&](const SpecStatus& spec) { return spec.path == path; });
}

void write_specs(const std::filesystem::path& file, const std::vector<SpecStatus>& specs) {
  write_file_atomic(file, to_json(specs).dump(1, ' ', false, json::error_handler_t::replace));
}

std::vector<SpecStatus> read_specs(const std::filesystem::path& file) {
  std::vector<SpecStatus> specs;
  if (!std::filesystem::exists(file)) return specs;
  try {
    for (const json& spec : json::parse(read_file(file))) put_spec(specs, spec_from(spec));
  } catch (const std::exception& error) {
    spdlog::warn("{}: what became of earlier specs is not shown: {}", file.string(), error.what());
    specs.clear();
  }
  return specs;
}

}  // namespace podium
