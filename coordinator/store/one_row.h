// Statements of which one row is read; they are ready for another start afterwards.
#pragma once

#include <cstdint>

#include "coordinator/store/sqlite.h"

namespace podium {

inline bool has_row(Statement& started) {
  const bool found = started.next();
  started.start();
  return found;
}

// Of a query that always has a row.
inline std::int64_t number_in(Statement& started) {
  started.next();
  const std::int64_t found = started.integer(0);
  started.start();
  return found;
}

}  // namespace podium
