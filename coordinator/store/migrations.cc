#include "coordinator/store/migrations.h"

#include <spdlog/spdlog.h>

#include "coordinator/store/row_packer.h"

namespace podium {

int schema_version(Database& database) {
  Statement version(database, "PRAGMA user_version");
  version.start();
  version.next();
  return version.small(0);
}

void migrate(Database& database, int up_to) {
  const int have = schema_version(database);
  const int known = static_cast<int>(migrations().size());
  if (have > known)
    throw SqliteError(SQLITE_SCHEMA, "the database has schema " + std::to_string(have) +
                                         ", this program knows only " + std::to_string(known) +
                                         ": run the newer podium-coordinator");
  if (have > 0 && have < up_to)
    spdlog::info("the database goes from schema {} to {}; of a large one that takes minutes", have, up_to);
  for (int version = have + 1; version <= up_to; ++version) {
    Transaction transaction(database);
    database.run(std::string(migrations()[static_cast<std::size_t>(version - 1)]));
    database.run("PRAGMA user_version = " + std::to_string(version));
    transaction.commit();
  }
  if (schema_version(database) == known) pack_rows(database);  // the writer of chunks knows that schema alone
}

}  // namespace podium
