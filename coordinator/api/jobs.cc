#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "common/model/job_choice.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/accounts/account_ledger.h"

namespace podium {
namespace {

using nlohmann::json;

void read_states(Query& query, JobFilter& filter) {
  const std::optional<std::string> list = query.text("state");
  if (!list) return;
  try {
    filter.states = job_states_from(*list);
  } catch (const std::invalid_argument& error) {
    query.refuse("state", error.what());
  }
}

void read_label(Query& query, JobFilter& filter) {
  const std::optional<std::string> label = query.text("label");
  if (!label) return;
  try {
    std::tie(filter.label_key, filter.label_value) = label_from(*label);
  } catch (const std::invalid_argument& error) {
    query.refuse("label", error.what());
  }
}

void read_sort(Query& query, JobFilter& filter) {
  const std::string sort = query.text("sort").value_or("-id");
  filter.sort.descending = sort.starts_with('-');
  const auto key = std::ranges::find(kJobSortKeys, sort.substr(filter.sort.descending ? 1 : 0));
  if (key == kJobSortKeys.end())
    return query.refuse("sort", "\"" + sort + "\" is no order; jobs are sorted by " +
                                    fmt::format("{}", fmt::join(kJobSortKeys, ", ")) +
                                    ", with - before it the largest first");
  filter.sort.key = static_cast<JobSortKey>(key - kJobSortKeys.begin());
}

// A page's token names the last job of the page before, or, in an order in which jobs move, how many came
// before.
void read_place(Query& query, JobFilter& filter) {
  filter.offset = query.integer_or("offset", 0, 0, INT32_MAX);
  const auto token = query.integer("page_token", 1, INT64_MAX);
  if (!token) return;
  if (filter.offset > 0) query.refuse("page_token", "cannot be given with offset");
  if (filter.sort.key == JobSortKey::id)
    filter.after = JobId{*token};
  else
    filter.offset = *token;
}

JobFilter read_job_filter(Query& query) {
  JobFilter filter;
  read_states(query, filter);
  read_label(query, filter);
  if (const auto experiment = query.integer("experiment", 1, INT64_MAX))
    filter.experiment = ExperimentId{*experiment};
  filter.experiment_name = query.text("experiment_name").value_or("");
  filter.name = query.text("name").value_or("");
  filter.account = query.text("account").value_or("");
  filter.search = query.text("q").value_or("");
  if (filter.search.size() > 1000) query.refuse("q", "must have at most 1000 bytes");
  read_sort(query, filter);
  filter.limit = static_cast<int>(query.integer_or("limit", 100, 1, 1000));
  read_place(query, filter);
  return filter;
}

std::string next_page_token(const JobFilter& filter, const JobPage& page) {
  return std::to_string(filter.sort.key == JobSortKey::id ? page.jobs.back().id.value
                                                          : filter.offset + std::ssize(page.jobs));
}

struct JobDetail {
  JobView job;
  std::vector<AttemptView> attempts;
  std::vector<CheckpointView> checkpoints;
  std::string spec, source;  // JSON
  std::optional<TextIdentity> text;
  std::optional<Origin> origin;
};

std::optional<JobDetail> read_detail(Reader& reader, JobId id) {
  std::optional<JobView> job = reader.job(id);
  if (!job) return std::nullopt;
  const std::optional<ExperimentView> experiment = reader.experiment(job->experiment);
  return JobDetail{std::move(*job),
                   reader.attempts(id),
                   reader.checkpoints(id),
                   reader.job_spec(id).value_or("null"),
                   experiment && !experiment->source.empty() ? experiment->source : "null",
                   reader.text_of(id),
                   reader.origin_of(id)};
}

}  // namespace

awaitable<ServerReply> get_jobs(Api& api, Call call) {
  const JobFilter filter = read_job_filter(call.query);
  if (!call.query.problems().empty()) co_return bad_query(call);
  const bool known_account = account_exists(api.loop.state(), filter.account);
  const auto query = [filter, known_account](Reader& reader) {
    JobPage page = reader.jobs(filter);
    JobFilter named = filter;
    if (known_account) named.account.clear();
    std::vector<UnknownName> unknown;
    if (page.total == 0) unknown = unknown_names(reader, named);
    return std::pair(std::move(page), std::move(unknown));
  };
  const std::int64_t revision = api.live.take_id();
  auto [page, unknown] = co_await api.pool.read(query);
  for (const UnknownName& name : unknown) call.query.refuse(name.field, name.why);
  if (!unknown.empty()) co_return bad_query(call);
  json body{{"total", page.total}, {"states", json::object()}};
  for (const auto& [state, count] : page.by_state) body["states"][to_string(state)] = count;
  if (page.more) body["next_page_token"] = next_page_token(filter, page);
  body["jobs"] = co_await jobs_json(api, std::move(page.jobs), revision);
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_job(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const std::int64_t revision = api.live.take_id();
  const auto detail = co_await api.pool.read([id](Reader& reader) { return read_detail(reader, *id); });
  if (!detail) co_return no_such(call, "job", call.path[0]);
  json body = job_json(detail->job, api.loop, revision);
  body["attempts"] = json::array();
  for (const AttemptView& attempt : detail->attempts) body["attempts"].push_back(attempt_json(attempt));
  const auto& saved = detail->checkpoints;
  const auto shown = [&](auto one) {
    return one == saved.end() ? json(nullptr) : checkpoint_json(*one, *id, api.loop.state().folder);
  };
  body["checkpoint"] = shown(saved.empty() ? saved.end() : std::prev(saved.end()));
  body["best_checkpoint"] =
      shown(std::ranges::find_if(saved, [](const CheckpointView& one) { return one.best.has_value(); }));
  body["spec"] = json::parse(detail->spec);
  body["source"] = json::parse(detail->source);
  body["text"] = detail->text ? to_json(*detail->text) : json(nullptr);
  body["origin"] = detail->origin ? to_json(*detail->origin) : json(nullptr);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_job_events(Api& api, Call call) {
  const int limit = static_cast<int>(call.query.integer_or("limit", 100, 1, 1000));
  const std::int64_t after = call.query.integer_or("page_token", 0, 0, INT64_MAX);
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto history = co_await api.pool.read([id, after, limit](Reader& reader) {
    using History = std::optional<std::vector<HistoryEntry>>;
    return reader.job(*id) ? History(reader.history(*id, after, limit + 1)) : History();
  });
  if (!history) co_return no_such(call, "job", call.path[0]);
  json events = json::array();
  for (const HistoryEntry& entry : *history) {
    if (events.size() == static_cast<std::size_t>(limit)) break;
    events.push_back({{"id", entry.id},
                      {"time_ms", to_millis(entry.time)},
                      {"type", entry.type},
                      {"text", entry.text},
                      {"level", entry.level}});
  }
  json body;
  if (history->size() > events.size())
    body["next_page_token"] = std::to_string(events.back()["id"].get<std::int64_t>());
  body["events"] = std::move(events);
  co_return json_reply(200, body);
}

}  // namespace podium
