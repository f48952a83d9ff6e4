// Writes the tables `run_groups` and `run_group_tags`: experiments as MLflow has them, each of a name of its
// own. In the caller's transaction, on the writer's thread.
#pragma once

#include <string>

#include "common/base/error.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class RunGroupWriter {
 public:
  explicit RunGroupWriter(Database& database);

  // Each returns the number of what it made, or 0. An error: nothing was written.
  Result<std::int64_t> take(std::int64_t now_ms, const MakeRunGroup& make);
  Result<std::int64_t> take(std::int64_t now_ms, const RenameRunGroup& rename);
  Result<std::int64_t> take(std::int64_t now_ms, const DeleteRunGroup& remove);
  Result<std::int64_t> take(std::int64_t now_ms, const SetRunGroupTag& tag);

 private:
  std::optional<Error> name_is_taken(const std::string& name, std::optional<RunGroupId> by);
  std::optional<Error> not_active(RunGroupId group);

  Database& database_;
  Statement by_name_, find_, count_, insert_, rename_, scheduled_, rename_experiments_, set_deleted_,
      set_runs_deleted_;
  Statement touch_, count_tags_, has_tag_, put_tag_, remove_tag_;
};

}  // namespace podium
