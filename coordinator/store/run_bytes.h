// How many bytes the params, tags and inputs of a run have, of which a run may have so many: a run is read
// whole. Counted once, for it reads them all. In the caller's transaction, on the writer's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/base/error.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class RunBytes {
 public:
  explicit RunBytes(Database& database);

  // Why the run may not have so many more; nothing where it may.
  std::optional<Error> refuse(JobId run, std::int64_t more);
  // It has them now; fewer where negative.
  void add(JobId run, std::int64_t more);
  // Call after a rollback, or of a run whose texts were changed otherwise.
  void forget() { known_.clear(); }
  void forget(JobId run) { known_.erase(run); }

 private:
  std::int64_t& of(JobId run);

  Statement count_;
  std::map<JobId, std::int64_t> known_;
};

}  // namespace podium
