// The migrations schemas/sql/NNN_*.sql, compiled in. The database's user_version counts those that were
// applied.
#pragma once

#include <string_view>
#include <vector>

#include "coordinator/store/sqlite.h"

namespace podium {

// Migration N is at index N-1. Generated from schemas/sql by CMake.
const std::vector<std::string_view>& migrations();

// Migrates the database to the newest schema, or to `up_to`, each step in a transaction of its own, and packs
// points that are rows (row_packer.h). Throws SqliteError where the database is newer than this program.
void migrate(Database& database, int up_to = static_cast<int>(migrations().size()));

int schema_version(Database& database);

}  // namespace podium
