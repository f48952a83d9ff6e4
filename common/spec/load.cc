#include "common/spec/load.h"

#include "common/spec/asha.h"
#include "common/spec/job_document.h"
#include "common/spec/job_list.h"
#include "common/spec/parameter.h"
#include "common/spec/problems.h"
#include "common/spec/schema.h"
#include "common/spec/study.h"
#include "common/spec/sweep.h"
#include "common/spec/yaml_document.h"

namespace podium {
namespace {

using nlohmann::json;

// How many problems are told: the jobs of a study tend to fail alike, and nobody reads more.
constexpr std::size_t kEnoughProblems = 20;

json normalised_study(const json& document, const JobSpec& base, const std::optional<Asha>& asha) {
  json normalised = to_json(base);
  for (const char* study : {"scaling", "sweep"})
    if (document.contains(study)) normalised[study] = document[study];
  if (normalised.contains("sweep")) fill_sweep(normalised["sweep"]);
  if (asha) normalised["sweep"]["asha"] = to_json(*asha);
  if (!normalised.contains("scaling")) return normalised;
  const json standards{{"mode", "weak"}, {"repeat", 1}, {"together", true}};
  for (const auto& [key, standard] : standards.items())
    if (!normalised["scaling"].contains(key)) normalised["scaling"][key] = standard;
  return normalised;
}

}  // namespace

Result<LoadedExperiment> load_experiment(std::string_view yaml, std::string_view file_name,
                                         const std::vector<Override>& overrides) {
  SourceMap places;
  Problems problems(file_name, places);
  const auto read = read_yaml(yaml, places, problems);
  if (!read) return problems.errors();
  json document = *read;
  apply_overrides(overrides, document, places, problems);
  if (lists_jobs(document)) {
    spread_overrides(overrides, *read, document, places);
    LoadedExperiment listed = load_job_list(document, problems);
    if (!problems.empty()) return problems.errors();
    return listed;
  }
  if (document.is_object()) {
    const std::size_t before = problems.count();
    check_lengths(document, problems);
    check_study_size(document, problems);
    if (problems.count() > before) return problems.errors();  // what follows looks at every item
    check_sweep(document, problems);
    check_repeat(document, problems);
    fill_from_sweep(document);
    check_numbers(document, problems);
  }
  const json filled = check_job(document, problems);
  if (!problems.empty()) return problems.errors();

  LoadedExperiment loaded;
  const JobSpec base = job_spec_from_json(filled);
  loaded.name = base.name;
  loaded.asha = asha_of(filled);
  loaded.normalised = normalised_study(document, base, loaded.asha);
  loaded.in_turn = runs_in_turn(document);
  if (!is_study(document)) {
    loaded.jobs.assign(base.serve ? static_cast<std::size_t>(base.serve->replicas.max) : 1, base);
    return loaded;
  }
  for (const Variant& variant : expand_study(document, problems)) {
    problems.turn_to_job(variant.document["name"].get<std::string>(), variant.written_at);
    check_numbers(variant.document, problems);
    const json job = check_job(variant.document, problems);
    if (problems.empty()) loaded.jobs.push_back(job_spec_from_json(job));
    if (problems.count() > kEnoughProblems) break;
  }
  if (!problems.empty()) return problems.errors();
  return loaded;
}

const CodeSpec* code_of(const LoadedExperiment& loaded) {
  for (const JobSpec& job : loaded.jobs)
    if (job.code) return &*job.code;
  return nullptr;
}

std::string place_in(std::string_view yaml, std::string_view file_name, const std::string& pointer) {
  SourceMap places;
  Problems unread(file_name, places);
  read_yaml(yaml, places, unread);
  return format_place(file_name, places.value(pointer));
}

}  // namespace podium
