#include "worker/train/weight_source.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "worker/data/failure.h"
#include "worker/train/pinned_origin.h"

namespace podium {

namespace fs = std::filesystem;

void refuse_other_than_pinned(const Launch& launch, const Origin& pinned, const std::string& now) {
  throw Failure(
      WorkerExit::bad_data,
      fmt::format("job \"{}\" began with the weights of {}, and {}. Bring those back, or delete {} to begin "
                  "anew with others",
                  launch.spec.name, describe(pinned), now,
                  (fs::path(launch.checkpoint_folder) / kOriginName).string()));
}

WeightSource::WeightSource(const Launch& launch, const std::string& name, const std::optional<Origin>& pinned,
                           Communicator& world)
    : launch_(launch),
      pinned_(pinned),
      begin_(fmt::format("job \"{}\" cannot begin with the weights of {}: ", launch.spec.name, name)),
      search_(world) {}

WholeCheckpoint WeightSource::find_in(const fs::path& folder, CheckpointChoice choice, std::int64_t step) {
  if (pinned_) return as_pinned(folder / checkpoint_name(pinned_->step));
  return as_named(chosen(folder, choice, step));
}

WholeCheckpoint WeightSource::at(const fs::path& checkpoint) {
  return pinned_ ? as_pinned(checkpoint) : as_named(whole(checkpoint));
}

WholeCheckpoint WeightSource::chosen(const fs::path& folder, CheckpointChoice choice, std::int64_t step) {
  if (choice == CheckpointChoice::step) return of_step(folder, step);
  auto newest = search_.newest_in(folder, problems_);
  if (!newest) refuse_none(folder);
  if (choice == CheckpointChoice::newest) return *std::move(newest);
  const BestCheckpoint& best = newest->manifest.state.best;
  if (auto found =
          best.known() ? search_.look_at(folder / checkpoint_name(best.step), problems_) : std::nullopt)
    return *std::move(found);
  if (choice == CheckpointChoice::best) refuse_no_best(best);
  return *std::move(newest);
}

WholeCheckpoint WeightSource::of_step(const fs::path& folder, std::int64_t step) {
  const std::vector<std::string> names = search_.names_in(folder);
  if (std::ranges::find(names, checkpoint_name(step)) == names.end())
    throw Failure(WorkerExit::bad_spec,
                  fmt::format("{}{} has no checkpoint of step {}; it has {}", begin_, folder.string(), step,
                              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  return whole(folder / checkpoint_name(step));
}

WholeCheckpoint WeightSource::whole(const fs::path& checkpoint) {
  auto found = search_.look_at(checkpoint, problems_);
  if (!found) throw Failure(WorkerExit::bad_data, begin_ + problems_.back());
  return *std::move(found);
}

// Where the folder is mounted elsewhere the path is another, and the manifest is the same.
WholeCheckpoint WeightSource::as_pinned(const fs::path& checkpoint) {
  const std::string& wanted = launch_.spec.model.init_xxh3;
  if (!wanted.empty() && wanted != pinned_->xxh3)
    refuse_other_than_pinned(launch_, *pinned_, "model.init.xxh3 names others now (" + wanted + ")");
  auto found = search_.look_at(checkpoint, problems_);
  if (!found) refuse_other_than_pinned(launch_, *pinned_, problems_.back());
  if (found->manifest.xxh3 != pinned_->xxh3)
    refuse_other_than_pinned(
        launch_, *pinned_,
        fmt::format("{} is another checkpoint now (XXH3 {})", checkpoint.string(), found->manifest.xxh3));
  return *std::move(found);
}

WholeCheckpoint WeightSource::as_named(WholeCheckpoint found) const {
  const std::string& wanted = launch_.spec.model.init_xxh3;
  if (wanted.empty() || wanted == found.manifest.xxh3) return found;
  throw Failure(WorkerExit::bad_spec,
                fmt::format("{}{} is another checkpoint (XXH3 {}) than the one that model.init.xxh3 names "
                            "({}); bring that one back, or leave xxh3 out to begin with this one",
                            begin_, found.path.string(), found.manifest.xxh3, wanted));
}

void WeightSource::refuse_none(const fs::path& folder) const {
  if (problems_.empty())
    throw Failure(WorkerExit::bad_spec,
                  fmt::format("{}{} holds no checkpoint; let it write one, or leave model.init out", begin_,
                              folder.string()));
  throw Failure(WorkerExit::bad_data,
                fmt::format("{}none of the {} checkpoints in {} is whole: {}. Bring one of them back whole, "
                            "or leave model.init out",
                            begin_, problems_.size(), folder.string(), problems_.front()));
}

void WeightSource::refuse_no_best(const BestCheckpoint& best) const {
  if (best.known()) throw Failure(WorkerExit::bad_data, begin_ + problems_.back());
  throw Failure(WorkerExit::bad_spec,
                begin_ +
                    "it keeps no best checkpoint; write \"checkpoint: newest\" under model.init, or "
                    "train it with checkpoint.best");
}

}  // namespace podium
