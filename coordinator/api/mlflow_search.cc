// MLflow: searches, and histories of metrics. Their answers are written on the reader's thread.
#include <bit>

#include "coordinator/api/mlflow.h"
#include "coordinator/mlflow/filter.h"
#include "coordinator/mlflow/objects.h"

namespace podium::mlflow {
namespace {

constexpr std::int64_t kUsualPage = 1'000;
constexpr std::int64_t kLargestPage = 50'000;
constexpr std::size_t kMostGroupsAsked = 10'000;
constexpr std::int64_t kLongestHistory = 250'000;   // points of one answer
constexpr std::int64_t kBytesOfPoint = 80;          // beside its key
constexpr std::int64_t kLargestHistory = 32 << 20;  // bytes of it, about

Lifecycle read_lifecycle(Fields& fields, std::string_view name) {
  const std::string view = fields.text(name).value_or("ACTIVE_ONLY");
  if (view == "ALL") return Lifecycle::all;
  if (view == "DELETED_ONLY") return Lifecycle::deleted;
  if (view != "ACTIVE_ONLY")
    fields.refuse("Invalid value \"" + view.substr(0, 100) + "\" for parameter '" + std::string(name) +
                  "' supplied: it must be ACTIVE_ONLY, DELETED_ONLY or ALL");
  return Lifecycle::active;
}

std::vector<RunGroupId> read_groups(Fields& fields) {
  std::vector<RunGroupId> groups;
  const std::vector<std::string> ids = fields.texts("experiment_ids");
  if (ids.size() > kMostGroupsAsked)
    fields.refuse("experiment_ids has more than " + std::to_string(kMostGroupsAsked) + " entries");
  for (const std::string& id : ids)
    if (const auto group = experiment_id(id)) groups.push_back(*group);
  return groups;
}

// A page's token is how many came before it.
template <class Search>
void read_search(Searched searched, Fields& fields, Search& query) {
  const auto conditions = parse_filter(searched, fields.text("filter").value_or(""));
  const auto order = parse_order(searched, fields.texts("order_by"));
  for (const Errors& errors : {conditions.errors(), order.errors()})
    for (const Error& error : errors) fields.refuse(error.message);
  query.limit = fields.integer("max_results", 1, kLargestPage).value_or(kUsualPage);
  if (fields.text("page_token").value_or("") != "")
    query.offset = fields.integer("page_token", 0, INT32_MAX).value_or(0);
  if (!fields.errors().empty()) return;
  query.conditions = *conditions;
  query.order = *order;
}

template <class Search, class Page>
std::string next_page(const Search& query, const Page& page) {
  return page.more ? std::to_string(query.offset + std::ssize(page.rows)) : "";
}

// Counted from the request on: who waits for it gives up, too.
SearchEnd search_end() { return std::chrono::steady_clock::now() + kLongestSearch; }

// Clients would try again after a 504.
template <class Query>
awaitable<ServerReply> found_by(Api& api, Query query) {
  try {
    std::string found = co_await api.searches.read(query);
    co_return json_text(std::move(found));
  } catch (const SqliteError& error) {
    if (!error.is_late()) throw;
  }
  co_return refusal({Code::invalid_parameter_value,
                     "the search took longer than " + std::to_string(kLongestSearch.count()) +
                         " s; name fewer experiments, compare less, or order by less"});
}

// step:time:bits of the last point.
std::string token_of(const HistoryPoint& point) {
  return std::to_string(point.step) + ":" + std::to_string(point.time_ms) + ":" +
         std::to_string(std::bit_cast<std::int64_t>(point.value));
}

std::optional<HistoryPoint> point_of(const std::string& token) {
  const std::size_t first = token.find(':'), second = token.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  const auto step = parse_integer(token.substr(0, first));
  const auto time = parse_integer(token.substr(first + 1, second - first - 1));
  const auto bits = parse_integer(token.substr(second + 1));
  if (!step || !time || !bits) return std::nullopt;
  return HistoryPoint{*step, *time, std::bit_cast<double>(*bits)};
}

}  // namespace

awaitable<ServerReply> search_runs(Api& api, Fields fields) {
  RunQuery search;
  search.cluster = cluster_of(api);
  search.groups = read_groups(fields);
  search.lifecycle = read_lifecycle(fields, "run_view_type");
  read_search(Searched::runs, fields, search);
  if (!fields.errors().empty()) co_return refusal(fault_of(fields.errors()));
  const auto query = [search, end = search_end()](Reader& reader) {
    const FoundPage<Run> page = reader.runs().search(search, end);
    return runs_json(page, next_page(search, page), search.cluster);
  };
  co_return co_await found_by(api, query);
}

awaitable<ServerReply> search_experiments(Api& api, Fields fields) {
  RunGroupQuery search;
  search.lifecycle = read_lifecycle(fields, "view_type");
  read_search(Searched::experiments, fields, search);
  if (!fields.errors().empty()) co_return refusal(fault_of(fields.errors()));
  const auto query = [search, end = search_end()](Reader& reader) {
    const FoundPage<RunGroup> page = reader.runs().search(search, end);
    return experiments_json(page, next_page(search, page));
  };
  co_return co_await found_by(api, query);
}

awaitable<ServerReply> get_metric_history(Api& api, Fields fields) {
  const std::string key = fields.needed_text("metric_key");
  const auto most = fields.integer("max_results", 1, INT64_MAX).value_or(kLongestHistory);
  const std::string token = fields.text("page_token").value_or("");
  const std::optional<HistoryPoint> after = point_of(token);
  if (!token.empty() && !after) fields.refuse("Invalid page_token: it must be a next_page_token of before");
  JobId job;
  if (const auto fault = read_run(api, fields, job)) co_return refusal(*fault);
  const std::int64_t fitting = std::max<std::int64_t>(1, kLargestHistory / (std::ssize(key) + kBytesOfPoint));
  const auto points = static_cast<std::size_t>(std::min({most, kLongestHistory, fitting}));
  const auto query = [job, key, points, after](Reader& reader) -> std::string {
    if (!reader.runs().info(job)) return "";
    const FoundPage<HistoryPoint> page = reader.runs().history(job, key, points, after);
    return history_json(key, page, page.more ? token_of(page.rows.back()) : "");
  };
  std::string found = co_await api.pool.read(query);
  if (found.empty()) co_return refusal(no_such_run(fields.text("run_id").value_or("")));
  co_return json_text(std::move(found));
}

}  // namespace podium::mlflow
