// schemas/sql/NNN_*.sql, compiled in. The database's user_version counts those it has had.
#pragma once

#include <string_view>
#include <vector>

#include "coordinator/store/sqlite.h"

namespace podium {

// Migration N is at index N-1. Generated from schemas/sql by CMake.
const std::vector<std::string_view>& migrations();

// Brings the database to the newest schema, or to `up_to`, each step in its own transaction, and packs the
// points that are rows (row_packer.h). Throws SqliteError when the database is newer than this program.
void migrate(Database& database, int up_to = static_cast<int>(migrations().size()));

int schema_version(Database& database);

}  // namespace podium
