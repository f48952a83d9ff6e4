// What the ledger's answers tell, as text: where a job's time went, and that of many jobs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

// "job 12 held 64 devices for 4h12m; 83 % of their time were steps that count. …", and a table of its
// buckets.
std::string ledger_text(const nlohmann::json& ledger, const Terminal& terminal);
// The buckets of each attempt.
std::string attempts_ledger_text(const nlohmann::json& ledger, const Terminal& terminal);
// Of GET /ledger.
std::string ledger_table_text(const nlohmann::json& table, const Terminal& terminal);

}  // namespace podium::cli
