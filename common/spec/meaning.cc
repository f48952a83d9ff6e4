#include "common/spec/meaning.h"

#include <spdlog/fmt/fmt.h>

#include "common/model/reproduces.h"
#include "common/spec/defaults.h"
#include "common/spec/explain.h"
#include "common/spec/mlperf.h"
#include "common/spec/sections.h"

namespace podium {

using nlohmann::json;

void check_meaning(const json& filled, Problems& problems) {
  const Facts facts(filled);
  if (is_service(filled)) return check_service(facts, problems);
  check_parts(facts, problems);
  check_model(facts, problems);
  check_data(facts, problems);
  check_training(facts, problems);
  check_squad(facts, problems);
  check_classify(facts, problems);
  check_compression(facts, problems);
  check_layout(facts, problems);
  check_target(facts, problems);
  check_best(facts, problems);
  check_mlperf(facts, problems);
  check_asha(facts, problems);
  check_program(facts, problems);
  check_stop(facts, problems);
  check_code(facts, problems);
}

namespace {

void check_label(const std::string& key, Problems& problems) {
  const std::string place = "/labels/" + pointer_step(key);
  if (key == kReproduces)
    problems.add_key(place,
                     "the label \"reproduces\" is given by \"podium reproduce\" alone; choose another key");
  else if (key.empty() || key.size() > 63 || key.find_first_of(":, \n") != std::string::npos)
    problems.add_key(place,
                     fmt::format("the label key {} must have 1 to 63 characters and no space, comma or colon",
                                 json(key).dump()));
}

}  // namespace

void check_parts(const Facts& facts, Problems& problems) {
  if (!facts.has("/resources")) problems.add_missing("/resources", "the spec needs the key \"resources\"");
  const bool runs_command = facts.has("/command");
  if (runs_command)
    for (const std::string key : kOfTrainings)
      if (const std::string part = "/" + key; facts.has(part))
        problems.add_key(part,
                         fmt::format("{} is for podium-worker's own trainings and this spec runs a command; "
                                     "remove one of the two",
                                     dotted(part)));
  if (!runs_command)
    for (const char* part : {"/model", "/data", "/training"})
      if (!facts.has(part))
        problems.add_missing(part,
                             fmt::format("the spec needs the key \"{}\" (or \"command\", to run a program of "
                                         "your own)",
                                         dotted(part)));
  if (facts.has("/resume") && facts.has("/training/distill"))
    problems.add_key(
        "/training/distill",
        "a run that goes on from another job's checkpoint has no teacher: resume and model.init, "
        "whose weights the teacher has, exclude each other; leave training.distill out");
  else if (facts.has("/resume") && facts.has("/model/init"))
    problems.add_key("/resume",
                     "resume goes on with all that another job's checkpoint holds, and model.init begins "
                     "anew with weights "
                     "alone; keep one");
  for (const std::string key : kOfServices)
    if (facts.has("/" + key))
      problems.add_key(
          "/" + key, fmt::format("{} is for a service; write \"task: serve\" beside it, or remove it", key));
  check_labels(facts, problems);
}

void check_labels(const Facts& facts, Problems& problems) {
  if (!facts.has("/labels") || !facts.all()["labels"].is_object()) return;
  for (const auto& [key, value] : facts.all()["labels"].items()) check_label(key, problems);
}

const FamilyTraits* named_family(const Facts& facts) {
  const auto name = facts.text("/model/family");
  return name ? find_family(*name) : nullptr;
}

namespace {

void check_tokenizer(const Facts& facts, Problems& problems) {
  const bool known = facts.has("/data/tokenizer") && facts.all()["data"]["tokenizer"].is_object();
  if (!known) return;
  const bool wordpiece = facts.has("/data/tokenizer/wordpiece");
  const bool bpe = facts.has("/data/tokenizer/bpe");
  if (!wordpiece && !bpe)
    problems.add("/data/tokenizer",
                 "data.tokenizer needs \"wordpiece\" (a vocab.txt, for bert) or \"bpe\" (for gpt and llama)");
  if (wordpiece && bpe)
    problems.add_key("/data/tokenizer/bpe", "data.tokenizer has both wordpiece and bpe; keep one");
  if (bpe && facts.has("/data/tokenizer/lowercase"))
    problems.add_key("/data/tokenizer/lowercase",
                     "data.tokenizer.lowercase is for wordpiece only; remove it");
  const FamilyTraits* family = named_family(facts);
  if (family == nullptr || wordpiece == bpe || family->wordpiece == wordpiece) return;
  if (family->wordpiece)
    problems.add_key(
        "/data/tokenizer/bpe",
        fmt::format("a {} model reads wordpiece tokens; write \"wordpiece: vocab.txt\"", family->name()));
  else
    problems.add_key("/data/tokenizer/wordpiece",
                     fmt::format("a {} model reads byte-pair tokens; write "
                                 "\"bpe: {{vocab: vocab.json, merges: merges.txt}}\"",
                                 family->name()));
}

// "bert is for pretrain, squad and classify, gpt for lm, llama for lm"
std::string tasks_by_family() {
  std::string text;
  for (const FamilyTraits& family : families()) {
    text += fmt::format("{}{} {}for ", text.empty() ? "" : ", ", family.name(), text.empty() ? "is " : "");
    for (const TrainingTask& task : family.tasks) {
      const bool first = &task == &family.tasks.front(), last = &task == &family.tasks.back();
      text += fmt::format("{}{}", first ? "" : last ? " and " : ", ", to_string(task));
    }
  }
  return text;
}

void check_task(const Facts& facts, Problems& problems) {
  const FamilyTraits* family = named_family(facts);
  const auto task = facts.text("/training/task");
  if (family == nullptr || !task || family->trains(*task)) return;
  problems.add("/training/task", fmt::format("a {} model cannot be trained for the task {}; {}",
                                             family->name(), *task, tasks_by_family()));
}

// Keys of Llama, whose positions turn queries and keys.
void check_rotary(const Facts& facts, Problems& problems) {
  const FamilyTraits* family = named_family(facts);
  if (family == nullptr) return;
  if (!family->rotary) {
    for (const char* key : {"/model/key_value_heads", "/model/rope_theta", "/model/tie_embeddings"})
      if (facts.has(key))
        problems.add_key(
            key, fmt::format("{} is for llama; leave it out of a {} model", dotted(key), family->name()));
    return;
  }
  const auto hidden = facts.integer("/model/hidden"), heads = facts.integer("/model/heads");
  const auto key_value_heads = facts.integer("/model/key_value_heads");
  if (hidden && heads && *hidden % *heads == 0 && *hidden % (kHeadMultiple * *heads) != 0)
    problems.add("/model/heads",
                 fmt::format("model.hidden ({}) must be a multiple of {} × model.heads ({}) in a {} model",
                             *hidden, kHeadMultiple, *heads, family->name()));
  if (heads && key_value_heads && *heads % *key_value_heads != 0)
    problems.add(
        "/model/key_value_heads",
        fmt::format("model.key_value_heads ({}) must divide model.heads ({})", *key_value_heads, *heads));
}

}  // namespace

// Of model.init where it is written as a mapping.
void check_init(const Facts& facts, Problems& problems) {
  const std::string at = "/model/init";
  if (!facts.has(at) || !facts.all()["model"]["init"].is_object()) return;
  const bool job = facts.has(at + "/job"), path = facts.has(at + "/path");
  if (!job && !path) problems.add_missing(at + "/job", "model.init needs the key \"job\", or \"path\"");
  if (job && path) problems.add_key(at + "/path", "model.init has both job and path; keep one");
  if (path && !job && facts.has(at + "/checkpoint"))
    problems.add_key(at + "/checkpoint",
                     "model.init.checkpoint is of a job; write the path of the checkpoint itself");
}

void check_model(const Facts& facts, Problems& problems) {
  check_tokenizer(facts, problems);
  if (!facts.has("/model") || !facts.all()["model"].is_object()) return;
  const auto family = facts.text("/model/family");
  const auto preset = facts.text("/model/preset");
  if (!facts.has("/model/family"))
    problems.add_missing("/model/family", "model needs the key \"family\" (bert, gpt or llama), or a preset");
  if (!facts.has("/model/preset"))
    for (const char* key : {"layers", "hidden", "heads"})
      if (!facts.has((std::string("/model/") + key).c_str()))
        problems.add_missing(std::string("/model/") + key,
                             fmt::format("model needs the key \"{}\", or a preset such as bert-mini", key));
  const ModelPreset* published = preset ? find_preset(*preset) : nullptr;
  if (published && family && *family != published->family)
    problems.add("/model/preset",
                 fmt::format("the preset {} is of the family {}, not {}; change one of the two", *preset,
                             published->family, *family));
  const auto hidden = facts.integer("/model/hidden");
  const auto heads = facts.integer("/model/heads");
  if (hidden && heads && *hidden % *heads != 0)
    problems.add("/model/heads",
                 fmt::format("model.hidden ({}) must be a multiple of model.heads ({})", *hidden, *heads));
  else if (hidden && *hidden % kColumnMultiple != 0)
    problems.add("/model/hidden",
                 fmt::format("model.hidden ({}) must be a multiple of {}", *hidden, kColumnMultiple));
  check_rotary(facts, problems);
  check_init(facts, problems);
  check_task(facts, problems);
}

}  // namespace podium
