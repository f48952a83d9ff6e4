// What is said of a chunk that cannot be read: the same everywhere.
#pragma once

#include <string>
#include <utility>

#include "common/base/error.h"
#include "coordinator/store/sqlite.h"

namespace podium {

template <class T>
T whole(Result<T> decoded, std::int64_t series) {
  if (decoded) return std::move(decoded).value();
  throw SqliteError(SQLITE_CORRUPT, "metric series " + std::to_string(series) + ": " +
                                        decoded.errors().front().message +
                                        "; restore a backup of the coordinator's home");
}

}  // namespace podium
