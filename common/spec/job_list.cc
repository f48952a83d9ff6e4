#include "common/spec/job_list.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/model/kept_checkpoints.h"
#include "common/model/shape_differences.h"
#include "common/spec/job_document.h"
#include "common/spec/parameter.h"
#include "common/spec/schema.h"
#include "common/spec/sections.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxListBytes = 8 << 20;  // of all jobs' documents together, as of a study's

// Mappings that are one value: a job's takes the place of the common one.
constexpr std::array kOneValue{"/target", "/data/tokenizer", "/model/init", "/resources/devices"};

bool is_one_value(const std::string& pointer) {
  return std::ranges::find(kOneValue, pointer) != kOneValue.end();
}

// Lays `over` over `value` and notes where each value of it is written.
void lay(const json& over, const std::string& pointer, const std::string& place, json& value,
         std::map<std::string, std::string>& written_at) {
  written_at[pointer] = place;
  const bool merges = over.is_object() && value.is_object() && !is_one_value(pointer);
  if (!merges) value = over.is_object() ? json::object() : over;
  if (over.is_array())
    for (std::size_t i = 0; i < over.size(); ++i) {
      json unused;
      const std::string step = "/" + std::to_string(i);
      lay(over[i], pointer + step, place + step, unused, written_at);
    }
  if (!over.is_object()) return;
  for (const auto& [key, inner] : over.items()) {
    const std::string step = "/" + pointer_step(key);
    lay(inner, pointer + step, place + step, value[key], written_at);
  }
}

struct ListedJob {
  std::string name;  // within the spec
  json document;     // as a spec of this job alone would have it, but for names of other jobs
  std::map<std::string, std::string> written_at;
  JobLinks links;
};

ListedJob listed(const json& document, std::size_t index) {
  const json& entry = document["jobs"][index];
  ListedJob job{entry["name"], document, {}, {}};
  job.document.erase("jobs");
  lay(entry, "", "/jobs/" + std::to_string(index), job.document, job.written_at);
  job.document["name"] = document["name"].get<std::string>() + "-" + job.name;
  const bool command = job.document.contains("command");
  const auto leave_out = [&](const auto& keys) {
    for (const char* key : keys)
      if (!entry.contains(key)) job.document.erase(key);
  };
  command ? leave_out(kOfTrainings) : leave_out(kOfPrograms);
  return job;
}

// Finds other jobs by their names. A job may name those before it.
class Names {
 public:
  Names(const json& document, std::size_t own, Problems& problems) : own_(own), problems_(problems) {
    for (const json& entry : document["jobs"]) names_.push_back(entry["name"]);
  }

  // Nothing for a number, and with a problem for a name that cannot be meant.
  std::optional<std::size_t> index_of(const json& job, const std::string& pointer) {
    if (!job.is_string()) return std::nullopt;
    const std::string name = job;
    const auto found = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    if (found < own_) return found;
    if (found == own_)
      problems_.add(pointer, fmt::format("the job {} cannot follow itself", name));
    else if (found < names_.size())
      problems_.add(pointer, fmt::format("the job {} stands further below; put it before this one", name));
    else
      problems_.add(pointer, unknown(name));
    return std::nullopt;
  }

 private:
  std::string unknown(const std::string& name) const {
    const auto near = closest(name, names_);
    return fmt::format(
        "jobs lists no \"{}\"; {}", name,
        near ? "did you mean \"" + *near + "\"?" : fmt::format("it has {}", fmt::join(names_, ", ")));
  }

  std::vector<std::string> names_;
  std::size_t own_;
  Problems& problems_;
};

// The job whose checkpoint another starts from must be one that it follows.
void check_follows(const ListedJob& job, std::optional<std::size_t> of, const std::string& pointer,
                   const char* when, Problems& problems) {
  if (!of || std::ranges::find(job.links.after, *of, &JobLinks::After::job) != job.links.after.end()) return;
  problems.add(pointer, fmt::format("the job {0} must have ended by then; write \"after: [{{job: {0}{1}}}]\"",
                                    job.document.at(json::json_pointer(pointer)).get<std::string>(), when));
}

std::optional<std::size_t> take_link(json& document, const std::string& pointer, Names& names) {
  const json::json_pointer at(pointer);
  return document.contains(at) ? names.index_of(document.at(at), pointer) : std::nullopt;
}

void find_links(ListedJob& job, Names& names, Problems& problems) {
  const json after = job.document.value("after", json::array());
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto of = names.index_of(after[i].value("job", json()), "/after/" + std::to_string(i) + "/job");
    if (of) job.links.after.push_back({*of, when_from(after[i].value("when", "ok"))});
  }
  job.links.resume = take_link(job.document, "/resume/job", names);
  job.links.init = take_link(job.document, "/model/init/job", names);
  check_follows(job, job.links.resume, "/resume/job", ", when: any", problems);
  check_follows(job, job.links.init, "/model/init/job", "", problems);
}

// What has numbers alone.
JobSpec spec_of(json filled, const JobLinks& links) {
  if (!links.after.empty())
    std::erase_if(filled["after"].get_ref<json::array_t&>(),
                  [](const json& on) { return on["job"].is_string(); });
  if (links.resume) filled.erase("resume");
  if (links.init) filled["model"]["init"]["job"] = 0;
  return job_spec_from_json(filled);
}

// As a job of the list is written.
json normalised(const ListedJob& job, const JobSpec& spec, const json& document) {
  json entry = to_json(spec);
  entry.erase("version");
  entry["name"] = job.name;
  const auto name_of = [&](std::size_t index) { return document["jobs"][index]["name"]; };
  for (const JobLinks::After& on : job.links.after)
    entry["after"].push_back({{"job", name_of(on.job)}, {"when", to_string(on.when)}});
  if (job.links.resume) entry["resume"] = {{"job", name_of(*job.links.resume)}};
  if (job.links.init) entry["model"]["init"]["job"] = name_of(*job.links.init);
  return entry;
}

void check_names(const json& document, Problems& problems) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < document["jobs"].size(); ++i)
    if (const std::string name = document["jobs"][i]["name"]; !seen.insert(name).second)
      problems.add("/jobs/" + std::to_string(i) + "/name",
                   fmt::format("two jobs have the name {}; give one of them another", name));
}

void check_list(const json& document, Problems& problems) {
  check_lengths(document, problems);
  if (!problems.empty()) return;  // what follows looks at every item
  check_parts_of_shape(document, problems);
  for (const char* study : {"scaling", "sweep"})
    if (document.contains(study))
      problems.add_key(
          std::string("/") + study,
          fmt::format("jobs lists the jobs of this spec, and {} would make others; keep one", study));
  for (const char* key : {"task", "serve", "replicas"})
    if (document.contains(key))
      problems.add_key(std::string("/") + key,
                       fmt::format("{} is of a service, which is a spec of its own; keep it or jobs", key));
  if (!problems.empty()) return;
  check_names(document, problems);
  const std::size_t bytes = document.dump(-1, ' ', false, json::error_handler_t::replace).size();
  if (const std::size_t jobs = document["jobs"].size(); jobs * bytes > kMaxListBytes)
    problems.add_key(
        "/jobs", fmt::format("{} jobs of a spec of {} bytes are too many; together they may have {} bytes",
                             jobs, bytes, kMaxListBytes));
}

// The weights of an earlier job must fit, as far as the specs say.
void check_weights(const ListedJob& job, const std::vector<JobSpec>& specs, std::size_t own,
                   const json& document, Problems& problems) {
  if (!job.links.init) return;
  const JobSpec& other = specs[*job.links.init];
  const std::string name = document["jobs"][*job.links.init]["name"];
  problems.turn_to_job(job.name, job.written_at);
  const JobCheckpoint& wanted = *specs[own].model.init_job;
  std::string why = why_no_weights(other, specs[own]);
  if (why.empty() && wanted.choice == CheckpointChoice::step) why = why_never_kept(other, wanted.step);
  if (!why.empty())
    problems.add("/model/init", fmt::format("cannot take the first weights from {}: {}", name, why));
}

}  // namespace

bool lists_jobs(const json& document) { return document.is_object() && document.contains("jobs"); }

void check_numbers(const json& document, Problems& problems) {
  const auto check = [&](const std::string& pointer) {
    const json::json_pointer at(pointer);
    if (document.contains(at) && document.at(at).is_string())
      problems.add(pointer, fmt::format("{} has no number here: names are for jobs that one spec lists under "
                                        "\"jobs\"; write the job's number",
                                        document.at(at).dump()));
  };
  check("/resume/job");
  check("/model/init/job");
  const json after = document.value("after", json());
  for (std::size_t i = 0; after.is_array() && i < after.size(); ++i)
    check("/after/" + std::to_string(i) + "/job");
}

namespace {

bool has_mapping(const json& document, const json::json_pointer& at) {
  return document.is_object() && document.contains(at) && document.at(at).is_object();
}

void erase_at(json& document, const json::json_pointer& at) {
  document.at(at.parent_pointer()).erase(at.back());
}

// Sets what is below `mapping`, which is one value, in every such mapping of the file as `wanted` has it;
// only where the file has none, the common one is made.
void spread(const json::json_pointer& at, const json::json_pointer& mapping, const json& written,
            const json& wanted, json& document, SourceMap& places) {
  if (!wanted.contains(at)) return;
  const json& value = wanted.at(at);
  bool some = false;
  for (std::size_t i = 0; i < document["jobs"].size(); ++i) {
    json& entry = document["jobs"][i];
    if (!has_mapping(entry, mapping)) continue;
    some = true;
    entry[at] = value;
    places.set("/jobs/" + std::to_string(i) + at.to_string(), {kBesideTheFile, kBesideTheFile});
  }
  if (!some || has_mapping(written, mapping)) return;
  if (written.contains(mapping))
    document[mapping] = written.at(mapping);
  else if (document.contains(mapping))
    erase_at(document, mapping);
}

}  // namespace

void spread_overrides(const std::vector<Override>& overrides, const json& written, json& document,
                      SourceMap& places) {
  if (!document["jobs"].is_array()) return;
  const json wanted = document;
  for (const Override& one : overrides) {
    const std::string pointer = pointer_of(one.path);
    const json::json_pointer at(pointer);
    const auto mapping = std::ranges::find_if(
        kOneValue, [&](const char* key) { return pointer.starts_with(std::string(key) + "/"); });
    if (mapping != kOneValue.end()) {
      spread(at, json::json_pointer(*mapping), written, wanted, document, places);
      continue;
    }
    for (json& entry : document["jobs"])
      if (entry.is_object() && entry.contains(at)) erase_at(entry, at);
  }
}

LoadedExperiment load_job_list(const json& document, Problems& problems) {
  LoadedExperiment loaded;
  check_list(document, problems);
  if (!problems.empty()) return loaded;
  loaded.name = document["name"];
  loaded.normalised = {{"version", document["version"]}, {"name", loaded.name}, {"jobs", json::array()}};
  std::vector<ListedJob> jobs;
  for (std::size_t i = 0; i < document["jobs"].size(); ++i) {
    ListedJob& job = jobs.emplace_back(listed(document, i));
    problems.turn_to_job(job.name, job.written_at, true);
    Names names(document, i, problems);
    find_links(job, names, problems);
    const json filled = check_job(job.document, problems);
    if (!problems.empty()) continue;
    loaded.jobs.push_back(spec_of(filled, job.links));
    loaded.links.push_back(job.links);
    json entry = normalised(job, loaded.jobs.back(), document);
    if (entry.contains("code")) loaded.normalised["code"] = entry["code"];  // of all, and around the list
    entry.erase("code");
    loaded.normalised["jobs"].push_back(std::move(entry));
  }
  if (!problems.empty()) return loaded;
  for (std::size_t i = 0; i < jobs.size(); ++i) check_weights(jobs[i], loaded.jobs, i, document, problems);
  return loaded;
}

}  // namespace podium
