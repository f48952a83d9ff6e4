// Packs the points of an older database, one row each, into chunks. Each piece is a transaction that writes
// its chunks and deletes its rows, so a kill loses no more than a piece.
#pragma once

#include "coordinator/store/sqlite.h"

namespace podium {

// Does nothing once the table of rows is gone.
void pack_rows(Database& database);

}  // namespace podium
