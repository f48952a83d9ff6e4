// The SQL of a search for runs or for experiments of MLflow, with what is bound to it. Only literals of this
// file become SQL.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/store/run_query.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class SearchSql {
 public:
  // SELECT id …, in order.
  static SearchSql of(const RunQuery& query);
  static SearchSql of(const RunGroupQuery& query);

  // Started, with all bound. One row more than the limit shows that there are more.
  Statement start(Database& database) const;

 private:
  using Value = std::variant<double, std::int64_t, std::string>;

  std::string bound(Value value);  // "?3"
  std::string compared(const std::string& what, const Condition& condition);
  std::string run_condition(const Condition& condition);
  std::string group_condition(const Condition& condition);
  std::string run_value(RunField field);
  void order_runs(const std::vector<OrderBy>& order, std::string& joins, std::string& by);

  std::string cluster_;  // the parameter that has it
  std::string sql_;
  std::vector<Value> values_;
};

}  // namespace podium
