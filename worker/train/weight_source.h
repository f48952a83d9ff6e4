// Finds the checkpoint that a run's first weights are of, together on all ranks. Throws Failure: bad_spec if
// there is none or it is not the one that the spec names, bad_data if it is not whole or an earlier attempt
// began with another, disk_full if the disk cannot read one at present.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/model/launch.h"
#include "common/model/origin.h"
#include "worker/checkpoint/search.h"

namespace podium {

class WeightSource {
 public:
  // `name` is what people call the source. `pinned`: what an earlier attempt began with; then no other
  // checkpoint is found. All must outlive the source.
  WeightSource(const Launch& launch, const std::string& name, const std::optional<Origin>& pinned,
               Communicator& world);

  // Of those in a folder.
  WholeCheckpoint find_in(const std::filesystem::path& folder, CheckpointChoice choice, std::int64_t step);
  // The one there.
  WholeCheckpoint at(const std::filesystem::path& checkpoint);

  // With which each of its refusals begins.
  const std::string& begin() const { return begin_; }
  // What is wrong with those that were passed over.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  WholeCheckpoint chosen(const std::filesystem::path& folder, CheckpointChoice choice, std::int64_t step);
  WholeCheckpoint of_step(const std::filesystem::path& folder, std::int64_t step);
  WholeCheckpoint whole(const std::filesystem::path& checkpoint);
  WholeCheckpoint as_pinned(const std::filesystem::path& checkpoint);
  WholeCheckpoint as_named(WholeCheckpoint found) const;
  [[noreturn]] void refuse_none(const std::filesystem::path& folder) const;
  [[noreturn]] void refuse_no_best(const BestCheckpoint& best) const;

  const Launch& launch_;
  const std::optional<Origin>& pinned_;
  const std::string begin_;
  const CheckpointSearch search_;
  std::vector<std::string> problems_;
};

// Of a run that has begun with other weights than its spec names now, say `now`.
[[noreturn]] void refuse_other_than_pinned(const Launch& launch, const Origin& pinned,
                                           const std::string& now);

}  // namespace podium
