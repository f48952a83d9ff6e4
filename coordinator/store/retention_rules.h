// The table `retention_rules`.
#pragma once

#include <map>
#include <string>

#include "coordinator/store/retention.h"
#include "coordinator/store/sqlite.h"

namespace podium {

// By the names of experiments.
using RetentionRules = std::map<std::string, RetentionRule>;

RetentionRules read_retention_rules(Database& database);

class RetentionWriter {
 public:
  explicit RetentionWriter(Database& database);

  void take(const RetentionChange& change);

 private:
  Statement put_, remove_, remove_empty_;
};

}  // namespace podium
