// How long data of ended jobs is kept, for all experiments and for experiments of one name, and what is due
// to go.
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/spec/json_body.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/loop/work_pool.h"

namespace podium {
namespace {

using nlohmann::json;
using Seconds = std::chrono::seconds;

constexpr std::int64_t kMostSeconds = std::chrono::duration_cast<Seconds>(kForever).count();
constexpr const char* kForeverText = "forever";
constexpr const char* kUsualText = "usual";

std::string field_of(Kept kept) { return std::string(kKeptNames[kept]) + "_seconds"; }

json keep_json(Duration keep) {
  if (keep >= kForever) return kForeverText;
  return std::chrono::duration_cast<Seconds>(keep).count();
}

json usual_json(const Retention& usual) {
  json out = json::object();
  for (const Kept kept : kAllKept) out[field_of(kept)] = keep_json(usual[kept]);
  return out;
}

json rule_json(const std::string& experiment, const RetentionRule& rule) {
  json out{{"experiment", experiment}};
  for (const Kept kept : kAllKept) out[field_of(kept)] = rule[kept] ? keep_json(*rule[kept]) : json(nullptr);
  return out;
}

Result<RetentionChange> parse_retention_change(const std::string& experiment, const std::string& text) {
  const Result<json> parsed = parse_object(text);
  if (!parsed) return parsed.errors();
  Errors errors;
  refuse_unknown(*parsed, {"points_seconds", "history_seconds", "logs_seconds", "checkpoints_seconds"},
                 errors);
  RetentionChange change{experiment};
  for (const Kept kept : kAllKept) {
    const std::string field = field_of(kept);
    if (!parsed->contains(field)) continue;
    const json& value = parsed->at(field);
    const auto seconds = whole_number(value, 1);
    if (value.is_null())
      change.to[kept] = std::optional<Duration>();
    else if (value == kForeverText)
      change.to[kept] = kForever;
    else if (seconds && *seconds <= kMostSeconds)
      change.to[kept] = Seconds(*seconds);
    else
      refuse(errors,
             "must be a whole number of seconds from 1 to " + std::to_string(kMostSeconds) +
                 ", \"forever\", or null: as of all others",
             "/" + field);
  }
  if (!errors.empty()) return errors;
  return change;
}

std::optional<std::optional<Duration>> keep_asked(Query& query, Kept kept) {
  const std::string field = field_of(kept);
  const std::optional<std::string> text = query.text(field);
  if (!text) return std::nullopt;
  if (*text == kUsualText) return std::optional<std::optional<Duration>>(std::in_place);
  if (*text == kForeverText) return std::optional<Duration>(kForever);
  const auto seconds = parse_integer(*text);
  if (seconds && *seconds >= 1 && *seconds <= kMostSeconds) return std::optional<Duration>(Seconds(*seconds));
  query.refuse(field, "must be a whole number of seconds from 1 to " + std::to_string(kMostSeconds) +
                          ", forever or usual");
  return std::nullopt;
}

struct DueAsked {
  std::string experiment;
  PerKept<std::optional<std::optional<Duration>>> as_if;  // of nothing: as usual
  Duration within{};
  std::size_t limit = 0;
};

DueAsked due_asked(Query& query) {
  DueAsked asked;
  asked.experiment = query.text("experiment").value_or("");
  for (const Kept kept : kAllKept) {
    asked.as_if[kept] = keep_asked(query, kept);
    if (asked.as_if[kept] && asked.experiment.empty())
      query.refuse(field_of(kept), "is of an experiment: name it with experiment");
  }
  asked.within = Seconds(query.integer_or("within_seconds", 0, 0, kMostSeconds));
  asked.limit = static_cast<std::size_t>(query.integer_or("limit", 100, 1, 1000));
  return asked;
}

// None where there is no such experiment.
std::optional<RetentionDue> read_due(Reader& reader, const DueAsked& asked, const Retention& usual,
                                     Time now) {
  if (!asked.experiment.empty() && !reader.has_experiment(asked.experiment)) return std::nullopt;
  DueQuery query{usual, now + asked.within, asked.experiment, {}, asked.limit};
  if (!asked.experiment.empty()) {
    RetentionRule& rule = query.as_if.emplace(reader.retention_rules()[asked.experiment]);
    for (const Kept kept : kAllKept)
      if (asked.as_if[kept]) rule[kept] = *asked.as_if[kept];
  }
  return reader.due(query);
}

json due_sums_json(const DueSums& all) {
  return {{"jobs", all.jobs},
          {"points", all.points},
          {"history", all.history},
          {"log_bytes", all.log_bytes},
          {"checkpoints", all.checkpoints},
          {"checkpoint_bytes", all.checkpoint_bytes}};
}

json due_json(const DueJob& job, const std::string& folder) {
  json checkpoints = json::array();
  for (const CheckpointView& checkpoint : job.checkpoints)
    checkpoints.push_back(checkpoint_json(checkpoint, job.job, folder));
  return {{"job", job.job.value},
          {"name", job.name},
          {"experiment", job.experiment},
          {"ended_ms", to_millis(job.ended)},
          {"points", job.points},
          {"history", job.history},
          {"log_bytes", job.log_bytes},
          {"checkpoints", std::move(checkpoints)},
          {"needed_by", job.needed_by ? json(job.needed_by->value) : json(nullptr)}};
}

// The rule is on disk when this returns.
awaitable<void> commit(Api& api, RetentionChange change) {
  Commit turn;
  turn.retention.push_back(std::move(change));
  co_await boost::asio::async_initiate<decltype(boost::asio::use_awaitable), void()>(
      [&api, &turn](auto handler) {
        // Shared because the store's callback is a copyable std::function.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        api.store.commit(std::move(turn), [shared] { (*shared)(); });
      },
      boost::asio::use_awaitable);
}

}  // namespace

awaitable<ServerReply> get_retention(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const RetentionRules rules =
      co_await api.pool.read([](Reader& reader) { return reader.retention_rules(); });
  json body{{"usual", usual_json(api.store.options().retention)}, {"rules", json::array()}};
  for (const auto& [experiment, rule] : rules) body["rules"].push_back(rule_json(experiment, rule));
  co_return json_reply(200, body);
}

awaitable<ServerReply> post_retention(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<RetentionChange> change = parse_retention_change(call.path[0], call.request.body);
  if (!change) co_return bad_request(call, change.errors());
  const std::string& name = change->experiment;
  const auto known = [name](Reader& reader) { return reader.has_experiment(name); };
  if (!co_await api.pool.read(known)) co_return no_such(call, "experiment", name);
  if (const auto failure = api.store.failure()) co_return problem(Errors{*failure}, call.request.id);
  co_await commit(api, *change);
  const auto rule = [name](Reader& reader) { return reader.retention_rules()[name]; };
  const RetentionRule now = co_await api.pool.read(rule);
  co_return json_reply(200, rule_json(name, now));
}

awaitable<ServerReply> remove_retention(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const std::string name = call.path[0];
  const auto known = [name](Reader& reader) { return reader.retention_rules().contains(name); };
  if (!co_await api.pool.read(known)) co_return no_such(call, "retention of its own for experiment", name);
  if (const auto failure = api.store.failure()) co_return problem(Errors{*failure}, call.request.id);
  RetentionChange change{.experiment = name, .remove = true};
  co_await commit(api, std::move(change));
  ServerReply reply;
  reply.status = 204;
  co_return reply;
}

awaitable<ServerReply> get_retention_due(Api& api, Call call) {
  const DueAsked asked = due_asked(call.query);
  if (!call.query.problems().empty()) co_return bad_query(call);
  const Time now = api.loop.now();
  const auto query = [asked, now, folder = api.loop.state().folder,
                      usual = api.store.options().retention](Reader& reader) {
    const std::optional<RetentionDue> due = read_due(reader, asked, usual, now);
    if (!due) return std::optional<ServerReply>();
    json body{
        {"by_ms", to_millis(now + asked.within)}, {"all", due_sums_json(due->all)}, {"jobs", json::array()}};
    for (const DueJob& job : due->jobs) body["jobs"].push_back(due_json(job, folder));
    return std::optional(json_reply(200, body));
  };
  // Each request reads all jobs that have ended. One runs at a time, so that others can read meanwhile.
  const KeyLock::Guard guard = co_await api.keys.acquire("what is due");
  std::optional<ServerReply> reply = co_await api.pool.read(query);
  if (!reply) co_return no_such(call, "experiment", asked.experiment);
  co_return std::move(*reply);
}

}  // namespace podium
