#include "worker/train/first_weights.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "common/model/shape_differences.h"
#include "worker/checkpoint/transfer.h"
#include "worker/checkpoint/weights.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
#include "worker/train/first_source.h"
#include "worker/train/folder_origin.h"
#include "worker/train/pinned_origin.h"
#include "worker/train/token_check.h"
#include "worker/train/weight_source.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamedTensors = 4;  // tensors in a note

// The run that begins, and what it begins as.
struct Beginning {
  const Launch& launch;
  const ModelSpec& model;
  const TaskSource& tasks;
  const ModelHead head;
  const std::optional<Origin> pinned;
};

std::string named(const std::vector<std::string>& tensors) {
  const auto some = std::span(tensors).first(std::min(tensors.size(), kMostNamedTensors));
  std::string text = fmt::format("{}", fmt::join(some, ", "));
  if (tensors.size() > some.size()) text += fmt::format(" and {} more", tensors.size() - some.size());
  return text;
}

// What any rank names, once each: every rank has its part of the model.
std::vector<std::string> of_all_ranks(Communicator& world, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const std::string& theirs : texts_of_all(world, fmt::format("{}", fmt::join(names, "\n")))) {
    std::istringstream lines(theirs);
    for (std::string name; std::getline(lines, name);)
      if (seen.insert(name).second) all.push_back(name);
  }
  return all;
}

// Whether both heads are of one task whose outputs stand for labels, and for others in each.
bool labels_differ(const ModelSpec& model, const ModelHead& theirs, const ModelHead& ours) {
  const TaskHead* const of_task = family_of(model).find_task_head(ours.task);
  return of_task != nullptr && of_task->has_labels && theirs.task == ours.task && !labels_agree(theirs, ours);
}

// The tensors of the head whose rows stand for labels.
std::vector<std::string> tensors_by_label(const ModelSpec& model, const ModelHead& head) {
  std::vector<std::string> names;
  for (const HeadTensor& tensor : family_of(model).find_task_head(head.task)->tensors(model, head))
    if (tensor.by_label) names.push_back(tensor.name);
  return names;
}

// Only a head may be drawn.
void check_body(const FirstSource& source, const Beginning& run, const std::vector<std::string>& drawn) {
  std::set<std::string> body;
  for (const HuggingFaceEntry& entry : hugging_face_entries(run.model, run.head))
    if (!entry.optional) body.insert(entry.parameters.begin(), entry.parameters.end());
  std::vector<std::string> missing;
  std::ranges::copy_if(drawn, std::back_inserter(missing),
                       [&](const std::string& name) { return body.contains(name); });
  if (!missing.empty())
    throw Failure(WorkerExit::bad_data,
                  fmt::format("{}{} lacks {} of the model, or has them in another shape", source.begin,
                              source.path.string(), named(missing)));
}

FirstWeights of_checkpoint(const FirstSource& source, const Beginning& run, ParameterStore& parameters,
                           Communicator& world) {
  const ModelSpec& model = run.model;
  const WholeCheckpoint& found = *source.checkpoint;
  const auto differences = shape_differences(model_of(found.manifest), model);
  if (!differences.empty())
    throw Failure(WorkerExit::bad_spec,
                  source.begin + "the models differ (" + found.path.string() + "): " + describe(differences));
  std::vector<std::string> warnings = source.warnings;
  if (std::string unknown = check_tokens(source.begin, found, run.launch, run.tasks); !unknown.empty())
    warnings.push_back(std::move(unknown));
  std::vector<std::string> left_alone;
  if (labels_differ(model, head_of(found.manifest), run.head)) left_alone = tensors_by_label(model, run.head);
  const std::vector<std::string> drawn =
      of_all_ranks(world, transfer_weights(found, model, parameters, left_alone));
  check_body(source, run, drawn);
  return {std::move(warnings),
          "begins with the weights of " + describe(source.origin()) +
              (drawn.empty() ? "" : ", but for " + named(drawn) + ", which are drawn"),
          source.origin(), drawn};
}

// None where the folder's labels cannot be read: its encoder is of use without them.
ModelHead head_of_folder(const fs::path& folder) {
  try {
    return read_hugging_face_head(folder);
  } catch (const BadData&) {
    return {};
  }
}

// The spec says the dropout before the classifier, whatever the folder has.
std::string other_dropout(const fs::path& folder, const Beginning& run) {
  const ModelHead theirs = head_of_folder(folder);
  const double own = run.launch.spec.training.classify.dropout;
  if (theirs.task != run.head.task || !theirs.dropout || *theirs.dropout == own) return "";
  return fmt::format(
      "{} was trained with a dropout of {} before its classifier, and this job has {}; "
      "training.classify.dropout says it",
      folder.string(), *theirs.dropout, own);
}

FirstWeights of_hugging_face(const FirstSource& source, const Beginning& run, ParameterStore& parameters) {
  const fs::path& folder = source.path;
  FirstWeights first;
  first.origin = run.pinned ? *run.pinned : folder_origin(folder);
  for (std::string warning : {check_tokens(folder, run.launch, run.tasks), other_dropout(folder, run)})
    if (!warning.empty()) first.warnings.push_back(std::move(warning));
  check_hugging_face_shapes(folder, read_hugging_face_config(folder), head_of_folder(folder));
  const std::vector<std::string> fresh = load_hugging_face(folder, run.model, parameters, run.head);
  first.drawn = fresh;
  first.note = "begins with the weights of " + describe(first.origin);
  if (fresh.empty()) return first;
  const std::string why = why_labels_differ(folder, run.head);
  const std::string names = fmt::format("{}", fmt::join(fresh, ", "));
  first.note += "; " +
                (why.empty() ? fmt::format("{} has no {}:", folder.string(), names) : why + ": " + names) +
                " begun with fresh weights";
  return first;
}

}  // namespace

FirstWeights fill_first_weights(const Launch& launch, const ModelSpec& model, const TaskSource& tasks,
                                ParameterStore& parameters, Communicator& world, int threads) {
  parameters.initialise(launch.spec.training.seed, model.initializer_range, threads);
  const Beginning run{launch, model, tasks, ModelHead(launch.spec.training.task, tasks.labels),
                      pinned_origin(launch.checkpoint_folder, world)};
  if (!launch.spec.model.init_job && launch.spec.model.init.empty()) {
    if (run.pinned) refuse_other_than_pinned(launch, *run.pinned, "the spec names none now");
    return {};
  }
  const FirstSource source = find_first_source(launch, run.pinned, world);
  FirstWeights first = source.checkpoint ? of_checkpoint(source, run, parameters, world)
                                         : of_hugging_face(source, run, parameters);
  if (!run.pinned && world.rank() == 0) pin_origin(launch.checkpoint_folder, first.origin);
  return first;
}

}  // namespace podium
