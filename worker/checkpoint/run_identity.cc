#include "worker/checkpoint/run_identity.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>

#include "worker/data/blend.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTold = 3;  // differences in a message

json shaping(const ClassifySpec& spec) {
  json out = to_json(spec);
  for (const char* key : kReadingKeys) out.erase(key);
  return out;
}

json shaping(const JobSpec& spec) {
  const json all = to_json(spec);
  json model = all.at("model"), training = all.at("training");
  model.erase("preset");  // its shape is written out
  model.erase("init");    // a run that goes on takes its weights from the checkpoint
  for (const char* key : {"log_every", "recompute", "recompute_layers", "unpadded", "timed_products"})
    training.erase(key);
  training["batch"].erase("micro");
  if (training.contains("quantise")) training["quantise"].erase("ranges");  // the checkpoint has its own
  if (training.contains("classify")) training["classify"] = shaping(spec.training.classify);
  if (training.contains("phases"))
    for (json& phase : training["phases"]) phase["batch"].erase("micro");
  return {{"model", std::move(model)}, {"training", std::move(training)}};
}

// What `value` has that `standard` lacks or says otherwise. Elements of a list are held against the first of
// the standard's.
json beyond(const json& value, const json& standard) {
  if (value.is_array() && standard.is_array()) {
    json out = json::array();
    for (const json& element : value)
      out.push_back(standard.empty() ? element : beyond(element, standard.front()));
    return out;
  }
  if (!value.is_object() || !standard.is_object()) return value;
  json out = json::object();
  for (const auto& [key, part] : value.items()) {
    const auto usual = standard.find(key);
    if (usual == standard.end())
      out[key] = part;
    else if (part != *usual)
      out[key] = beyond(part, *usual);
  }
  return out;
}

json standard_shaping() {
  JobSpec standard;
  standard.training.phases = {PhaseSpec{}};
  json out = shaping(standard);
  out["training"]["classify"] = shaping(ClassifySpec{});  // for the task that has it
  return out;
}

// "training.seed was 1 and is 2" of the first few.
std::string differences(const json& then, const json& now) {
  const json before = then.flatten(), after = now.flatten();
  json both = before;
  both.update(after);
  const auto value_in = [](const json& flat, const std::string& key) {
    return flat.contains(key) ? flat.at(key).dump() : "absent";
  };
  std::vector<std::string> told;
  for (const auto& [key, unused] : both.items()) {
    const std::string was = value_in(before, key), is = value_in(after, key);
    std::string name = key.substr(1);
    std::ranges::replace(name, '/', '.');
    if (was != is) told.push_back(fmt::format("{} was {} and is {}", name, was, is));
  }
  if (told.size() > kMostTold) {
    const std::size_t more = told.size() - kMostTold;
    told.resize(kMostTold);
    told.push_back(fmt::format("and {} more", more));
  }
  return fmt::format("{}", fmt::join(told, ", "));
}

// Runs of before had no dropout before the classifier, and specs take the model's.
std::string way_on(const JobSpec& then, const JobSpec& now) {
  const bool dropout_is_new = now.training.task == TrainingTask::classify &&
                              then.training.classify.dropout == 0 && now.training.classify.dropout > 0;
  return dropout_is_new ? "; to go on without that dropout write training.classify.dropout: 0" : "";
}

std::int64_t& last_steps(TrainingSpec& training) {
  return training.phases.empty() ? training.schedule.steps : training.phases.back().schedule.steps;
}

}  // namespace

JobSpec with_steps_of(const JobSpec& other, JobSpec spec) {
  TrainingSpec training = other.training;
  last_steps(spec.training) = last_steps(training);
  return spec;
}

std::string run_fingerprint(const JobSpec& spec) {
  const std::string text = beyond(shaping(spec), standard_shaping()).dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string why_another_run(const CheckpointState& then, const JobSpec& spec) {
  if (run_fingerprint(then.spec) == run_fingerprint(spec)) return "";
  return "it comes from another run: " + differences(shaping(then.spec), shaping(spec)) +
         way_on(then.spec, spec);
}

std::string why_other_text(const CheckpointState& then, const JobSpec& spec, const TextIdentity& text) {
  if (then.text.xxh3.empty()) {  // written before checkpoints told
    const json before = to_json(then.spec).at("data"), now = to_json(spec).at("data");
    if (before == now) return "";
    return "it does not tell which text it was trained on, and the paths are others: " +
           differences({{"data", before}}, {{"data", now}}) + "; go on with those it was started with";
  }
  if (then.text == text) return "";
  const std::vector<double> before = shares_of(then.spec.data.weights), now = shares_of(spec.data.weights);
  if (before.size() == now.size() && before != now)
    return fmt::format(
        "its text was blended by other weights of data.train: shares of {} then, {} now; give data.train the "
        "weights of then, or begin a new run in another checkpoint folder",
        fmt::join(before, ", "), fmt::join(now, ", "));
  return fmt::format(
      "it was trained on other text: {} then, {} now; give data.train and data.tokenizer the files of then, "
      "which may lie elsewhere, or begin a new run in another checkpoint folder. Where the files are the "
      "same, "
      "another version of Podium made the checkpoint and reads some characters differently",
      describe(then.text), describe(text));
}

}  // namespace podium
