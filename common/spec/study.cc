#include "common/spec/study.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "common/model/spec.h"
#include "common/spec/explain.h"
#include "common/spec/load.h"
#include "common/spec/parameter.h"
#include "common/spec/sweep.h"

namespace podium {
namespace {

using nlohmann::json;

// The most text that all jobs of a study may have: each job is checked like a document of its own.
constexpr std::size_t kMaxStudyBytes = 8 << 20;

constexpr std::int64_t kMostRepeats = 100;  // as the schema has it

// Combinations of the lists that are present; at most one more than are allowed.
std::size_t count_jobs(const json& document) {
  std::size_t count = 1;
  const auto multiply = [&count](const json& values) {
    if (values.is_array() && !values.empty())
      count = std::min(count * values.size(), kMaxJobsOfExperiment + 1);
  };
  if (document.contains("scaling") && document["scaling"].is_object()) {
    multiply(document["scaling"].value("devices", json()));
    const json repeat = document["scaling"].value("repeat", json());
    if (repeat.is_number_integer() && repeat > 0) {
      const std::size_t times =
          repeat > kMaxJobsOfExperiment ? kMaxJobsOfExperiment + 1 : repeat.get<std::size_t>();
      count = std::min(count * times, kMaxJobsOfExperiment + 1);
    }
  }
  return std::min(count * count_of_sweep(document, kMaxJobsOfExperiment + 1), kMaxJobsOfExperiment + 1);
}

// The part that a value adds to a job's name; it keeps only what a name may hold.
std::string suffix(const std::string& key, const json& value) {
  std::string text = key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c) && !std::strchr("._=-", c); },
      '_');
  return "-" + text;
}

// Scales the batch of every phase, which is meant for resources.devices, to `devices`.
void scale_batches(const json& document, const json& devices, const std::string& here, Variant& variant,
                   Problems& problems) {
  const json& base_devices = document["resources"]["devices"];
  std::vector<std::string> batches{"/training/batch/global"};
  const json::json_pointer phases("/training/phases");
  for (std::size_t i = 0; document.contains(phases) && i < document.at(phases).size(); ++i)
    batches.push_back("/training/phases/" + std::to_string(i) + "/batch/global");
  for (const std::string& batch : batches) {
    const json::json_pointer at(batch);
    if (!document.contains(at)) continue;
    const std::int64_t sequences = document.at(at).get<std::int64_t>() * devices.get<std::int64_t>();
    variant.written_at[batch] = here;
    if (sequences % base_devices.get<std::int64_t>() == 0) {
      variant.document[at] = sequences / base_devices.get<std::int64_t>();
      continue;
    }
    variant.document[at] = nullptr;
    problems.add(
        here, fmt::format("{} is for {} devices and cannot be scaled to {} evenly; choose a multiple of {}",
                          dotted(batch), base_devices.dump(), devices.dump(), base_devices.dump()));
  }
}

Variant scaled(const json& document, std::size_t index, Problems& problems) {
  Variant variant{document, {}};
  const json& devices = document["scaling"]["devices"][index];
  const std::string here = "/scaling/devices/" + std::to_string(index);
  if (document["scaling"].value("mode", "weak") == "weak")
    scale_batches(document, devices, here, variant, problems);
  json& job = variant.document;
  json& resources = job["resources"];
  resources["devices"] = devices;
  if (resources.contains("per_node") && resources["per_node"] > devices) resources["per_node"] = devices;
  variant.written_at["/resources/devices"] = here;
  variant.written_at["/resources/per_node"] = here;
  job["name"] = job["name"].get<std::string>() + suffix("devices", devices);
  return variant;
}

// The shortest end of `path` that no other swept path shares.
std::string short_name(const std::string& path, const std::vector<std::string>& paths) {
  const std::string last = path.substr(path.rfind('.') + 1);
  for (const std::string& other : paths)
    if (other != path && other.substr(other.rfind('.') + 1) == last) return path;
  return last;
}

std::vector<Variant> swept(const std::vector<Variant>& variants, const json& sweep) {
  const std::vector<std::string> paths = swept_paths(sweep);
  const std::vector<SweptValues> trials = trials_of(sweep);
  std::vector<Variant> out;
  for (const Variant& variant : variants)
    for (const SweptValues& trial : trials) {
      Variant next = variant;
      for (std::size_t i = 0; i < paths.size(); ++i) {
        next.document[json::json_pointer(pointer_of(paths[i]))] = trial[i].value;
        next.document["name"] =
            next.document["name"].get<std::string>() + suffix(short_name(paths[i], paths), trial[i].value);
        next.written_at[pointer_of(paths[i])] = trial[i].written_at;
      }
      out.push_back(std::move(next));
    }
  return out;
}

// Where a job's seed is written.
const char* seed_pointer(const json& document) {
  return document.contains("command") ? "/parameters/seed" : "/training/seed";
}

// The first job's.
std::int64_t seed_of(const json& document) {
  const json seed = document.value(json::json_pointer(seed_pointer(document)), json());
  return seed.is_number_integer() ? seed.get<std::int64_t>() : static_cast<std::int64_t>(TrainingSpec{}.seed);
}

int repeats(const json& document) {
  return document.contains("scaling") ? document["scaling"].value("repeat", 1) : 1;
}

std::vector<Variant> repeated(const std::vector<Variant>& variants, int times) {
  std::vector<Variant> out;
  for (const Variant& variant : variants)
    for (int i = 0; i < times; ++i) {
      Variant next = variant;
      const char* const pointer = seed_pointer(next.document);
      json& seed = next.document[json::json_pointer(pointer)];
      seed = seed_of(variant.document) + i;
      next.document["name"] = next.document["name"].get<std::string>() + suffix("seed", seed);
      next.written_at[pointer] = "/scaling/repeat";
      out.push_back(std::move(next));
    }
  return out;
}

// Indices of scaling.devices in the order of the jobs.
std::vector<std::size_t> order_of_sizes(const json& document) {
  std::vector<std::size_t> order(document.contains("scaling") ? document["scaling"]["devices"].size() : 0);
  std::iota(order.begin(), order.end(), 0);
  if (runs_in_turn(document))
    std::ranges::sort(order, {}, [&](std::size_t i) { return document["scaling"]["devices"][i].get<int>(); });
  return order;
}

}  // namespace

bool is_study(const json& document) { return document.contains("scaling") || document.contains("sweep"); }

bool runs_in_turn(const json& document) {
  return document.contains("scaling") && !document["scaling"].value("together", true);
}

void check_repeat(const json& document, Problems& problems) {
  const json::json_pointer at("/scaling/repeat");
  if (!document.contains(at) || !document.at(at).is_number_integer() || document.at(at) < 2) return;
  const bool command = document.contains("command");
  const std::string seed = dotted(seed_pointer(document));
  if (document.contains("sweep") && document["sweep"].is_object() && document["sweep"].contains(seed))
    problems.add_key(
        "/sweep/" + seed,
        fmt::format("sweep varies {}, and scaling.repeat gives each job a seed of its own; keep one", seed));
  else if (command && !document.value("/parameters/seed"_json_pointer, json()).is_number_integer())
    problems.add(
        "/scaling/repeat",
        "scaling.repeat gives each job another seed, which a command reads from parameters.seed; write "
        "\"parameters: {seed: 1}\" and pass {seed} to the command");
  else if (seed_of(document) > std::numeric_limits<std::int64_t>::max() - kMostRepeats)
    problems.add(seed_pointer(document), seed + " is too large for scaling.repeat to count on from it");
}

void check_study_size(const json& document, Problems& problems) {
  if (!is_study(document)) return;
  const std::size_t jobs = count_jobs(document);
  const char* study = document.contains("sweep") ? "/sweep" : "/scaling";
  if (jobs > kMaxJobsOfExperiment)
    problems.add_key(study,
                     fmt::format("the study has more than {} jobs; vary fewer values", kMaxJobsOfExperiment));
  else if (const std::size_t bytes = document.dump(-1, ' ', false, json::error_handler_t::replace).size();
           jobs * bytes > kMaxStudyBytes)
    problems.add_key(study,
                     fmt::format("the study has {} jobs of a spec of {} bytes; shorten its lists, or vary "
                                 "fewer values: together they may have {} bytes",
                                 jobs, bytes, kMaxStudyBytes));
  else if (jobs > kMaxJobsInTurn && document.value("/scaling/together"_json_pointer, json()) == false)
    problems.add(
        "/scaling/together",
        fmt::format("the study has {} jobs, and at most {} can run one at a time; write true, or vary "
                    "fewer values",
                    jobs, kMaxJobsInTurn));
}

std::vector<Variant> expand_study(const json& document, Problems& problems) {
  std::vector<Variant> variants;
  for (const std::size_t i : order_of_sizes(document)) variants.push_back(scaled(document, i, problems));
  if (variants.empty()) variants.push_back({document, {}});
  if (document.contains("sweep")) variants = swept(variants, document["sweep"]);
  if (repeats(document) > 1) variants = repeated(variants, repeats(document));
  for (Variant& variant : variants)
    for (const char* study : {"scaling", "sweep"}) variant.document.erase(study);
  return variants;
}

}  // namespace podium
