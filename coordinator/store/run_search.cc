#include "coordinator/store/run_search.h"

#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "coordinator/store/run_reader.h"
#include "coordinator/store/run_words.h"

namespace podium {
namespace {

constexpr std::size_t kMostBytesOfPage = 32 << 20;

// LIKE of SQLite ignores case and GLOB does not.
std::string as_glob(const std::string& pattern) {
  std::string glob;
  for (const char c : pattern) {
    if (c == '%')
      glob += '*';
    else if (c == '_')
      glob += '?';
    else if (c == '*' || c == '?' || c == '[')
      glob += std::string("[") + c + "]";
    else
      glob += c;
  }
  return glob;
}

std::string_view sign_of(Compare compare) {
  switch (compare) {
    case Compare::equal:
      return " = ";
    case Compare::not_equal:
      return " != ";
    case Compare::less:
      return " < ";
    case Compare::at_most:
      return " <= ";
    case Compare::more:
      return " > ";
    case Compare::at_least:
      return " >= ";
    case Compare::like:
      return " GLOB ";
    case Compare::like_any_case:
      return " LIKE ";
    case Compare::among:
      return " IN ";
    case Compare::not_among:
      return " NOT IN ";
  }
  PODIUM_CHECK(false, "unknown Compare");
}

std::string lifecycle_sql(Lifecycle lifecycle, const std::string& column) {
  if (lifecycle == Lifecycle::all) return "1";
  return (lifecycle == Lifecycle::active ? "NOT " : "") + column;
}

std::string direction(const OrderBy& by) { return by.descending ? " DESC" : " ASC"; }

// What is missing comes last, in either direction.
std::string in_order(const std::string& value, const OrderBy& by) {
  return value + " IS NULL, " + value + direction(by) + ", ";
}

std::string group_value(RunField field) {
  switch (field) {
    case RunField::name:
      return "g.name";
    case RunField::group_created:
      return "g.created_ms";
    case RunField::group_updated:
      return "g.updated_ms";
    case RunField::group_id:
      return "g.id";
    default:
      PODIUM_CHECK(false, "an experiment has no such field");
  }
}

std::size_t bytes_of_pairs(const std::vector<KeyValue>& pairs) {
  std::size_t bytes = 0;
  for (const KeyValue& pair : pairs) bytes += sizeof pair + pair.key.size() + pair.value.size();
  return bytes;
}

std::size_t bytes_of_group(const RunGroup& group) {
  return sizeof group + group.name.size() + group.artifacts.size() + bytes_of_pairs(group.tags);
}

std::size_t bytes_of_run(const Run& run) {
  std::size_t bytes = sizeof run;
  for (const RunMetric& metric : run.data.metrics) bytes += sizeof metric + metric.key.size();
  bytes += bytes_of_pairs(run.data.params) + bytes_of_pairs(run.data.tags);
  for (const RunInput& input : run.data.inputs) bytes += input.body.size();
  return bytes;
}

}  // namespace

std::string SearchSql::bound(Value value) {
  values_.push_back(std::move(value));
  return "?" + std::to_string(values_.size());
}

std::string SearchSql::compared(const std::string& what, const Condition& condition) {
  std::string value;
  if (const auto* list = std::get_if<std::vector<std::string>>(&condition.value)) {
    value = "(SELECT value FROM json_each(" + bound(nlohmann::json(*list).dump()) + "))";
  } else if (const auto* text = std::get_if<std::string>(&condition.value)) {
    value = bound(condition.compare == Compare::like ? as_glob(*text) : *text);
  } else if (const auto* number = std::get_if<double>(&condition.value)) {
    value = bound(*number);
  } else {
    value = bound(std::get<std::int64_t>(condition.value));
  }
  return what + std::string(sign_of(condition.compare)) + value;
}

// Of the attributes of a run.
std::string SearchSql::run_value(RunField field) {
  const std::string run_id = "(" + cluster_ + " || printf('%016x', jobs.id))";
  switch (field) {
    case RunField::run_id:
      return run_id;
    case RunField::name:
      return "jobs.name";
    case RunField::user:
      return "CASE WHEN tracked THEN user ELSE account END";
    case RunField::status:
      return run_status_sql("state");
    case RunField::artifact_uri:
      return artifact_uri_sql("g.id", "g.artifacts", run_id);
    case RunField::started:
      return "coalesce(started_ms, submitted_ms)";
    case RunField::ended:
      return "ended_ms";
    default:
      PODIUM_CHECK(false, "a run has no such attribute");
  }
}

std::string SearchSql::run_condition(const Condition& condition) {
  const auto exists = [&](const std::string& rows, const std::string& what) {
    return "EXISTS (SELECT 1 FROM " + rows + " AND " + what + ")";
  };
  const auto row_of = [&](const std::string& table) {
    return table + " AS found WHERE found.job = jobs.id AND found.key = " + bound(condition.key);
  };
  const std::string dataset = "run_inputs AS found WHERE found.job = jobs.id AND found.kind = 'dataset'";
  switch (condition.field) {
    case RunField::metric: {  // NaN, which is NULL here, is other than every number
      const std::string rows = row_of("series") + " AND found.points > 0";
      const std::string what = compared("found.last_value", condition);
      return exists(rows, condition.compare == Compare::not_equal
                              ? "(found.last_value IS NULL OR " + what + ")"
                              : what);
    }
    case RunField::param:
      return exists(row_of("params"), compared("found.value", condition));
    case RunField::tag:
      return exists(row_of("tags"), compared("found.value", condition));
    case RunField::dataset_name:
      return exists(dataset, compared("found.body ->> '$.dataset.name'", condition));
    case RunField::dataset_digest:
      return exists(dataset, compared("found.body ->> '$.dataset.digest'", condition));
    case RunField::dataset_context:
      return exists(
          "run_inputs AS found, json_each(found.body, '$.tags') AS tag WHERE found.job = jobs.id AND "
          "found.kind = 'dataset' AND tag.value ->> '$.key' = 'mlflow.data.context'",
          compared("tag.value ->> '$.value'", condition));
    default:
      return compared(run_value(condition.field), condition);
  }
}

std::string SearchSql::group_condition(const Condition& condition) {
  if (condition.field != RunField::tag) return compared(group_value(condition.field), condition);
  const std::string key = bound(condition.key);
  return "EXISTS (SELECT 1 FROM run_group_tags AS found WHERE found.run_group = g.id AND found.key = " + key +
         " AND " + compared("found.value", condition) + ")";
}

void SearchSql::order_runs(const std::vector<OrderBy>& order, std::string& joins, std::string& by) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const OrderBy& one = order[i];
    const std::string row = "o" + std::to_string(i);
    const auto join = [&](const std::string& table, const std::string& more) {
      joins += " LEFT JOIN " + table + " AS " + row + " ON " + row + ".job = jobs.id AND " + row +
               ".key = " + bound(one.key) + more;
    };
    switch (one.field) {
      case RunField::metric:  // numbers, NaN, none
        join("series", " AND " + row + ".points > 0");
        by += row + ".id IS NULL, " + row + ".last_value IS NULL, " + row + ".last_value" + direction(one) +
              ", ";
        break;
      case RunField::param:
      case RunField::tag:
        join(one.field == RunField::param ? "params" : "tags", "");
        by += in_order(row + ".value", one);
        break;
      default:
        by += in_order(run_value(one.field), one);
    }
  }
}

SearchSql SearchSql::of(const RunQuery& query) {
  SearchSql search;
  search.cluster_ = search.bound(query.cluster.substr(0, 16));
  nlohmann::json groups = nlohmann::json::array();
  for (const RunGroupId group : query.groups) groups.push_back(group.value);
  std::string joins, by;
  search.order_runs(query.order, joins, by);
  std::string where = " WHERE run_group IN (SELECT value FROM json_each(" + search.bound(groups.dump()) +
                      ")) AND " + lifecycle_sql(query.lifecycle, "jobs.deleted");
  for (const Condition& condition : query.conditions) where += " AND " + search.run_condition(condition);
  search.sql_ = "SELECT jobs.id FROM jobs JOIN run_groups AS g ON g.id = jobs.run_group" + joins + where +
                " ORDER BY " + by + "coalesce(started_ms, submitted_ms) DESC, jobs.id LIMIT " +
                search.bound(query.limit + 1) + " OFFSET " + search.bound(query.offset);
  return search;
}

SearchSql SearchSql::of(const RunGroupQuery& query) {
  SearchSql search;
  std::string where = " WHERE " + lifecycle_sql(query.lifecycle, "g.deleted"), by;
  for (const Condition& condition : query.conditions) where += " AND " + search.group_condition(condition);
  for (const OrderBy& one : query.order) by += in_order(group_value(one.field), one);
  search.sql_ = "SELECT g.id FROM run_groups AS g" + where + " ORDER BY " + by +
                "g.created_ms DESC, g.id DESC LIMIT " + search.bound(query.limit + 1) + " OFFSET " +
                search.bound(query.offset);
  return search;
}

Statement SearchSql::start(Database& database) const {
  Statement statement(database, sql_);
  statement.start();
  for (std::size_t i = 0; i < values_.size(); ++i)
    std::visit([&](const auto& value) { statement.bind(static_cast<int>(i) + 1, value); }, values_[i]);
  return statement;
}

FoundPage<Run> RunReader::search(const RunQuery& query, SearchEnd end) {
  const ReadTransaction moment(database_);
  const Deadline deadline(database_, end);
  const SearchSql sql = SearchSql::of(query);
  std::vector<JobId> found;
  for (Statement rows = sql.start(database_); rows.next();) found.push_back({rows.integer(0)});
  FoundPage<Run> page;
  std::size_t bytes = 0;
  for (const JobId job : found) {
    page.more = std::ssize(page.rows) == query.limit || bytes > kMostBytesOfPage;
    if (page.more) break;
    page.rows.push_back({info(job).value(), data(job)});
    bytes += bytes_of_run(page.rows.back());
  }
  return page;
}

FoundPage<RunGroup> RunReader::search(const RunGroupQuery& query, SearchEnd end) {
  const ReadTransaction moment(database_);
  const Deadline deadline(database_, end);
  const SearchSql sql = SearchSql::of(query);
  FoundPage<RunGroup> page;
  std::size_t bytes = 0;
  for (Statement rows = sql.start(database_); rows.next();) {
    page.more = std::ssize(page.rows) == query.limit || bytes > kMostBytesOfPage;
    if (page.more) break;
    page.rows.push_back(group(RunGroupId{rows.integer(0)}).value());
    bytes += bytes_of_group(page.rows.back());
  }
  return page;
}

}  // namespace podium
