#include "worker/train/first_weights.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "common/model/shape_differences.h"
#include "worker/checkpoint/search.h"
#include "worker/checkpoint/transfer.h"
#include "worker/checkpoint/weights.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamedTensors = 4;  // tensors in a note

// What lies at the path of model.init.
enum class Kind : char { nothing, hugging_face, checkpoint, checkpoints };

Kind own_look(const fs::path& path) {
  try {
    if (fs::exists(path / "config.json")) return Kind::hugging_face;
    if (fs::exists(path / kManifestName)) return Kind::checkpoint;
    const bool some = fs::is_directory(path) && !checkpoints_in(path).empty();
    return some ? Kind::checkpoints : Kind::nothing;
  } catch (const std::system_error& error) {
    throw BadData("cannot read model.init: " + std::string(error.what()));
  }
}

// As rank 0 sees it.
Kind kind_of(const fs::path& path, Communicator& world) {
  Kind kind = world.rank() == 0 ? own_look(path) : Kind::nothing;
  world.broadcast(std::as_writable_bytes(std::span(&kind, 1)), 0);
  return kind;
}

// Finds the checkpoint that a job's first weights are of.
class Source {
 public:
  Source(const Launch& launch, std::string name, fs::path folder, Communicator& world)
      : begin_(fmt::format("job \"{}\" cannot begin with the weights of {}: ", launch.spec.name, name)),
        folder_(std::move(folder)),
        search_(world) {}

  WholeCheckpoint find(CheckpointChoice choice, std::int64_t step) {
    if (choice == CheckpointChoice::step) return of_step(step);
    auto newest = search_.newest_in(folder_, problems_);
    if (!newest) refuse_none();
    if (choice == CheckpointChoice::newest) return *std::move(newest);
    const BestCheckpoint& best = newest->manifest.state.best;
    if (auto found =
            best.known() ? search_.look_at(folder_ / checkpoint_name(best.step), problems_) : std::nullopt)
      return *std::move(found);
    if (choice == CheckpointChoice::best) refuse_no_best(best);
    return *std::move(newest);
  }
  WholeCheckpoint at_path() {
    auto found = search_.look_at(folder_, problems_);
    if (!found) throw Failure(WorkerExit::bad_data, begin_ + problems_.back());
    return *std::move(found);
  }

  const std::string& begin() const { return begin_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  WholeCheckpoint of_step(std::int64_t step) {
    const std::vector<std::string> names = search_.names_in(folder_);
    if (std::ranges::find(names, checkpoint_name(step)) == names.end())
      throw Failure(WorkerExit::bad_spec,
                    fmt::format("{}{} has no checkpoint of step {}; it has {}", begin_, folder_.string(),
                                step, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    auto found = search_.look_at(folder_ / checkpoint_name(step), problems_);
    if (!found) throw Failure(WorkerExit::bad_data, begin_ + problems_.back());
    return *std::move(found);
  }

  [[noreturn]] void refuse_none() const {
    if (problems_.empty())
      throw Failure(WorkerExit::bad_spec,
                    fmt::format("{}{} holds no checkpoint; let it write one, or leave model.init out", begin_,
                                folder_.string()));
    throw Failure(
        WorkerExit::bad_data,
        fmt::format("{}none of the {} checkpoints in {} is whole: {}. Bring one of them back whole, "
                    "or leave model.init out",
                    begin_, problems_.size(), folder_.string(), problems_.front()));
  }
  [[noreturn]] void refuse_no_best(const BestCheckpoint& best) const {
    if (best.known()) throw Failure(WorkerExit::bad_data, begin_ + problems_.back());
    throw Failure(WorkerExit::bad_spec,
                  begin_ +
                      "it keeps no best checkpoint; write \"checkpoint: newest\" under model.init, or "
                      "train it with checkpoint.best");
  }

  const std::string begin_;
  const fs::path folder_;
  const CheckpointSearch search_;
  std::vector<std::string> problems_;
};

// The last rank has the last stage's part of the model, and so the head.
std::string told_by_last(Communicator& world, const std::vector<std::string>& names) {
  std::vector<std::string> some(names.begin(), names.begin() + std::min(names.size(), kMostNamedTensors));
  std::string text = fmt::format("{}", fmt::join(some, ", "));
  if (names.size() > kMostNamedTensors) text += fmt::format(" and {} more", names.size() - kMostNamedTensors);
  return shared_text(world, world.size() - 1, std::move(text));
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

FirstWeights take(const Source& source, const WholeCheckpoint& found, const ModelSpec& model,
                  const ModelHead& head, ParameterStore& parameters, Communicator& world) {
  const auto differences = shape_differences(model_of(found.manifest), model);
  if (!differences.empty())
    throw Failure(WorkerExit::bad_spec, source.begin() + "the models differ (" + found.path.string() +
                                            "): " + describe(differences));
  const Origin origin{found.path.string(), found.manifest.state.step, found.manifest.xxh3};
  std::vector<std::string> left_alone;
  if (labels_differ(model, head_of(found.manifest), head)) left_alone = tensors_by_label(model, head);
  const std::string drawn = told_by_last(world, transfer_weights(found, model, parameters, left_alone));
  return {source.problems(),
          "begins with the weights of " + describe(origin) +
              (drawn.empty() ? "" : ", but for " + drawn + ", which are drawn"),
          origin};
}

FirstWeights of_hugging_face(const fs::path& folder, const ModelSpec& model, const ModelHead& head,
                             ParameterStore& parameters) {
  const std::vector<std::string> fresh = load_hugging_face(folder, model, parameters, head);
  if (fresh.empty()) return {};
  const std::string why = why_labels_differ(folder, head);
  const std::string names = fmt::format("{}", fmt::join(fresh, ", "));
  return {{},
          (why.empty() ? fmt::format("{} has no {}:", folder.string(), names) : why + ": " + names) +
              " begun with fresh weights",
          {}};
}

FirstWeights of_job(const Launch& launch, const ModelSpec& model, const ModelHead& head,
                    ParameterStore& parameters, Communicator& world) {
  const JobCheckpoint& wanted = *launch.spec.model.init_job;
  Source source(launch, describe(wanted), launch.init_folder, world);
  const WholeCheckpoint found = source.find(wanted.choice, wanted.step);
  return take(source, found, model, head, parameters, world);
}

FirstWeights of_path(const Launch& launch, const ModelSpec& model, const ModelHead& head,
                     ParameterStore& parameters, Communicator& world) {
  const fs::path path = (fs::path(launch.data_folder) / launch.spec.model.init).lexically_normal();
  const Kind kind = kind_of(path, world);
  if (kind == Kind::hugging_face) return of_hugging_face(path, model, head, parameters);
  if (kind == Kind::nothing)
    throw BadData(
        fmt::format("model.init: {} is neither a Hugging Face folder, which has a config.json, nor a "
                    "checkpoint, which has a {}, nor a folder of checkpoints (step-…)",
                    path.string(), kManifestName));
  Source source(launch, path.string(), path, world);
  const WholeCheckpoint found =
      kind == Kind::checkpoint ? source.at_path() : source.find(CheckpointChoice::newest, 0);
  return take(source, found, model, head, parameters, world);
}

}  // namespace

FirstWeights fill_first_weights(const Launch& launch, const ModelSpec& model,
                                const std::vector<std::string>& labels, ParameterStore& parameters,
                                Communicator& world, int threads) {
  parameters.initialise(launch.spec.training.seed, model.initializer_range, threads);
  const ModelHead head(launch.spec.training.task, labels);
  if (launch.spec.model.init_job) return of_job(launch, model, head, parameters, world);
  if (!launch.spec.model.init.empty()) return of_path(launch, model, head, parameters, world);
  return {};
}

}  // namespace podium
