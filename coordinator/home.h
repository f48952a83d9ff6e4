// The coordinator's home folder: one process at a time, its tokens, and where it can be reached.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "common/base/file.h"
#include "common/model/sync.h"

namespace podium {

// Makes the folder (0700) and locks it for this process until the Fd closes; an error where another process
// has it.
Result<Fd> claim_home(const std::filesystem::path& home);

// Removes what write_file_atomic left there where an earlier process was killed. Only once it is claimed.
void sweep_home(const std::filesystem::path& home);

bool readable_by_others(const std::filesystem::path& file);

// Reads the token in `file`, or makes one there (0600) when the file does not exist.
Result<std::string> read_or_make_token(const std::filesystem::path& file);

// Refuses a home whose database is gone although its other files are there: a new database would assign
// numbers of jobs again that nodes may still run. With `begin_anew` the files are set aside instead. Call it
// before the database is opened.
Result<bool> check_history(const std::filesystem::path& home, bool begin_anew);

// Keeps the cluster's name beside its database. Throws where another cluster's name is there, unless
// `begin_anew`.
void check_cluster(const std::filesystem::path& home, const ClusterName& name, bool begin_anew);

}  // namespace podium
