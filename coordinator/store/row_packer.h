// The points of a database from before chunks, a row each, packed into chunks: by pieces, each in a
// transaction that writes its chunks and deletes its rows, so that a kill costs no more than a piece.
#pragma once

#include "coordinator/store/sqlite.h"

namespace podium {

// Where there is none of their table any more, it has been done.
void pack_rows(Database& database);

}  // namespace podium
