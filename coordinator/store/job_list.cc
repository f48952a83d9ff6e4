// Reader: lists of jobs. Only literals and parameters become SQL: what a user typed is always bound.
#include <algorithm>
#include <sstream>

#include "common/base/check.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

struct Where {
  std::string sql = "WHERE 1";
  std::vector<std::string> texts;  // bound from ?1 on

  std::string bound(std::string text) {
    texts.push_back(std::move(text));
    return "?" + std::to_string(texts.size());
  }
};

std::string in_lower_case(std::string text) {  // of ASCII, as SQLite's lower()
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  return text;
}

void add_word(Where& where, const std::string& word) {
  const std::size_t colon = word.find(':');
  const bool numbered = word.size() > 1 && word.front() == '#';
  const std::string digits = numbered ? word.substr(1) : word;
  const bool number = digits.find_first_not_of("0123456789") == std::string::npos;
  const auto in_name = [&] { return "instr(lower(name), " + where.bound(word) + ") > 0"; };
  const auto is_id = [&] { return "CAST(id AS TEXT) = " + where.bound(digits); };
  where.sql += " AND ";
  if (colon == std::string::npos) {
    if (!number)
      where.sql += in_name();
    else
      where.sql += numbered ? is_id() : "(" + is_id() + " OR " + in_name() + ")";
    return;
  }
  const std::string key = word.substr(0, colon);
  std::string value = word.substr(colon + 1);
  if (key != "account") {
    where.sql += "EXISTS (SELECT 1 FROM json_each(labels) WHERE lower(key) = " + where.bound(key);
    where.sql += " AND instr(lower(value), " + where.bound(value) + ") > 0)";
    return;
  }
  if (value.ends_with('/')) value.pop_back();
  const bool all = value.empty();
  where.sql += all ? "1" : "instr(lower(account) || '/', " + where.bound(value + "/") + ") = 1";
}

// All but the states.
Where where_of(const JobFilter& filter) {
  Where where;
  where.sql += " AND NOT deleted";
  if (filter.scheduled) where.sql += " AND NOT tracked";
  if (filter.experiment) where.sql += " AND experiment = " + std::to_string(filter.experiment->value);
  if (!filter.experiment_name.empty())
    where.sql +=
        " AND experiment IN (SELECT id FROM experiments WHERE name = " + where.bound(filter.experiment_name) +
        ")";
  if (!filter.name.empty()) where.sql += " AND instr(name, " + where.bound(filter.name) + ") > 0";
  if (!filter.label_key.empty()) {
    const std::string key = where.bound(filter.label_key);
    where.sql += " AND EXISTS (SELECT 1 FROM json_each(labels) WHERE key = " + key +
                 " AND value = " + where.bound(filter.label_value) + ")";
  }
  if (!filter.account.empty()) {
    const std::string account =
        where.bound(filter.account);  // below it: between "nlp/" and "nlp0", '0' following '/'
    where.sql += " AND (account = " + account + " OR (account > " + account + " || '/' AND account < " +
                 account + " || '0'))";
  }
  std::istringstream words(in_lower_case(filter.search));
  for (std::string word; words >> word;) add_word(where, word);
  return where;
}

std::string among(const std::vector<JobState>& states) {
  if (states.empty()) return "";
  std::string names;
  for (const JobState state : states)
    names += (names.empty() ? "'" : ",'") + std::string(to_string(state)) + "'";
  return " AND state IN (" + names + ")";
}

// The first of the metrics that the job has written.
std::string newest_of(const std::vector<std::string>& metrics) {
  std::string list, order;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    list += (i > 0 ? ",'" : "'") + metrics[i] + "'";
    order += " WHEN '" + metrics[i] + "' THEN " + std::to_string(i);
  }
  return "(SELECT CASE WHEN abs(last_value) < 9e999 THEN last_value END FROM series WHERE job = jobs.id AND "
         "key IN (" +
         list + ") ORDER BY CASE key" + order + " END LIMIT 1)";
}

std::string rank_of_state() {
  std::string ranks = "CASE state";
  for (int i = 0; i <= static_cast<int>(JobState::stopped); ++i)
    ranks += " WHEN '" + std::string(to_string(static_cast<JobState>(i))) + "' THEN " + std::to_string(i);
  return ranks + " END";
}

std::string value_of(JobSortKey key) {
  switch (key) {
    case JobSortKey::id:
      return "id";
    case JobSortKey::name:
      return "lower(name)";
    case JobSortKey::state:
      return rank_of_state();
    case JobSortKey::progress:
      return "CASE WHEN steps > 0 THEN min(1.0, step * 1.0 / steps) ELSE state = 'succeeded' END";
    case JobSortKey::loss:
      return newest_of({"train/loss", "train/mlm_loss", "eval/mlm_loss", "eval/loss"});
    case JobSortKey::throughput:
      return newest_of({"train/sequences_per_second", "train/tokens_per_second"});
    case JobSortKey::devices:  // as JobView has them
      return "CASE WHEN state = 'queued' OR held_devices = 0 THEN devices ELSE held_devices END";
    case JobSortKey::account:
      return "account";
    case JobSortKey::priority:
      return "priority";
    case JobSortKey::submitted:
      return "submitted_ms";
    case JobSortKey::time_to_train:  // as time_to_train_seconds() has it
      return "CASE WHEN target_metric IS NOT NULL THEN target_reached_ms WHEN state = 'succeeded' THEN "
             "ended_ms END"
             " - started_ms";
  }
  PODIUM_CHECK(false, "unknown JobSortKey");
}

std::string order_of(const JobSort& sort) {
  const std::string direction = sort.descending ? " DESC" : " ASC";
  if (sort.key == JobSortKey::id) return " ORDER BY id" + direction;
  const std::string value = value_of(sort.key);
  std::string order = " ORDER BY " + value + " IS NULL, ";
  if (sort.key == JobSortKey::throughput)  // sequences are not compared with tokens
    order += newest_of({"train/sequences_per_second"}) + " IS NULL, ";
  return order + value + direction + ", id DESC";
}

Statement& start_with(Statement& statement, const Where& where) {
  statement.start();
  for (std::size_t i = 0; i < where.texts.size(); ++i)
    statement.bind(static_cast<int>(i) + 1, where.texts[i]);
  return statement;
}

std::map<JobState, std::int64_t> counts_where(Database& database, const Where& where) {
  Statement rows(database, "SELECT state, count(*) FROM jobs " + where.sql + " GROUP BY state");
  std::map<JobState, std::int64_t> counts;
  for (start_with(rows, where); rows.next();) counts[job_state_from(rows.text(0))] = rows.integer(1);
  return counts;
}

}  // namespace

JobPage Reader::jobs(const JobFilter& filter) {
  Where where = where_of(filter);
  JobPage page;
  page.by_state = counts_where(*database_, where);
  for (const auto& [state, count] : page.by_state)
    if (filter.states.empty() || std::ranges::find(filter.states, state) != filter.states.end())
      page.total += count;

  where.sql += among(filter.states);
  if (filter.after)
    where.sql += (filter.sort.descending ? " AND id < " : " AND id > ") + std::to_string(filter.after->value);
  Statement rows(*database_, kJobColumns + where.sql + order_of(filter.sort) + " LIMIT " +
                                 std::to_string(filter.limit + 1) + " OFFSET " +
                                 std::to_string(filter.offset));
  for (start_with(rows, where); rows.next();) {
    if (std::ssize(page.jobs) == filter.limit) {
      page.more = true;
      break;
    }
    page.jobs.push_back(job_row(rows));
  }
  return page;
}

std::map<JobState, std::int64_t> Reader::job_counts() {
  return counts_where(*database_, {"WHERE NOT tracked", {}});
}

}  // namespace podium
