#include "coordinator/api/mlflow.h"

#include <unordered_map>

#include "coordinator/api/guard.h"
#include "coordinator/mlflow/names.h"
#include "coordinator/mlflow/run_id.h"
#include "coordinator/store/rungs.h"

namespace podium::mlflow {
namespace {

constexpr std::string_view kPrefix = "/api/2.0/mlflow/";
constexpr std::size_t kLargeBody = 128 << 10;

constexpr TrackingScope kAll = TrackingScope::all;
constexpr TrackingScope kOwn = TrackingScope::run;  // or the experiment of one

constexpr Endpoint kEndpoints[] = {
    {"POST", "experiments/create", Audience::user, kAll, create_experiment},
    {"GET", "experiments/get", Audience::read, kOwn, get_experiment},
    {"GET", "experiments/get-by-name", Audience::read, kOwn, get_experiment_by_name},
    {"POST", "experiments/search", Audience::read, kAll, search_experiments},
    {"GET", "experiments/search", Audience::read, kAll, search_experiments},
    {"POST", "experiments/delete", Audience::user, kAll, delete_experiment},
    {"POST", "experiments/restore", Audience::user, kAll, restore_experiment},
    {"POST", "experiments/update", Audience::user, kAll, update_experiment},
    {"POST", "experiments/set-experiment-tag", Audience::user, kAll, set_experiment_tag},
    {"POST", "experiments/delete-experiment-tag", Audience::user, kAll, delete_experiment_tag},
    {"POST", "runs/create", Audience::user, kAll, create_run},
    {"GET", "runs/get", Audience::read, kOwn, get_run},
    {"POST", "runs/update", Audience::user, kOwn, update_run},
    {"POST", "runs/delete", Audience::user, kAll, delete_run},
    {"POST", "runs/restore", Audience::user, kAll, restore_run},
    {"POST", "runs/log-metric", Audience::user, kOwn, log_metric, read_plain_metric},
    {"POST", "runs/log-parameter", Audience::user, kOwn, log_parameter},
    {"POST", "runs/set-tag", Audience::user, kOwn, set_tag},
    {"POST", "runs/delete-tag", Audience::user, kOwn, delete_tag},
    {"POST", "runs/log-batch", Audience::user, kOwn, log_batch, read_plain_batch},
    {"POST", "runs/log-inputs", Audience::user, kOwn, log_inputs},
    {"POST", "runs/search", Audience::read, kAll, search_runs},
    {"GET", "metrics/get-history", Audience::read, kOwn, get_metric_history},
    {"GET", "artifacts/list", Audience::read, kOwn, list_artifacts},
};

// By its header; HEAD asks as GET does.
const Endpoint* find_endpoint(const ServerRequest& head) {
  static const auto table = [] {
    std::unordered_map<std::string_view, std::vector<const Endpoint*>> by_path;
    for (const Endpoint& endpoint : kEndpoints) by_path[endpoint.path].push_back(&endpoint);
    return by_path;
  }();
  std::string_view path = head.target;
  path.remove_prefix(kPrefix.size());
  path = path.substr(0, path.find('?'));
  const auto found = table.find(path);
  if (found == table.end()) return nullptr;
  const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  for (const Endpoint* endpoint : found->second)
    if (endpoint->method == method) return endpoint;
  return nullptr;
}

Fault no_endpoint(const ServerRequest& head) {
  return {Code::endpoint_not_found, "there is no " + head.method + " " + head.target.substr(0, 200) +
                                        " here; docs/protocols.md, \"MLflow\", "
                                        "lists what there is"};
}

struct ParsedBody {
  std::optional<PlainLog> log;
  std::optional<Fields> fields;  // unless it is a plain log
};

ParsedBody parse_body(const Endpoint& endpoint, const ServerRequest& request) {
  ParsedBody parsed;
  if (endpoint.plain) parsed.log = endpoint.plain(request.body);
  if (!parsed.log) parsed.fields.emplace(request);
  return parsed;
}

// Large bodies would hold up the loop.
awaitable<ParsedBody> parse_large(Api& api, const Endpoint& endpoint, const ServerRequest& request) {
  const auto work = [&endpoint, &request] { return parse_body(endpoint, request); };
  co_return co_await api.checks.run(work);
}

awaitable<ServerReply> answer_parsed(Api& api, const Endpoint& endpoint, const ServerRequest& request,
                                     ParsedBody parsed) {
  const std::optional<JobId> limit =
      endpoint.scope == kOwn ? run_of_token(api.options, request) : std::nullopt;
  if (parsed.log) {
    RunChange change;
    if (auto fault = find_run(api, parsed.log->run_id, limit, change.run))
      return turn_down(std::move(*fault));
    change.what = LogToRun{std::move(parsed.log->points), {}, {}};
    return carry_out(api, std::move(change));
  }
  Fields& fields = *parsed.fields;
  if (!fields.errors().empty()) return turn_down({Code::bad_request, describe(fields.errors())});
  fields.limit_to(limit);
  // Handlers read the run's id once more, and those of experiments look what the run's own is.
  JobId run;
  if (limit && !endpoint.path.starts_with("experiments/"))
    if (auto fault = read_run(api, fields, run)) return turn_down(std::move(*fault));
  return endpoint.answer(api, std::move(fields));
}

awaitable<ServerReply> answer_large(Api& api, const Endpoint& endpoint, const ServerRequest& request) {
  ParsedBody parsed = co_await parse_large(api, endpoint, request);
  co_return co_await answer_parsed(api, endpoint, request, std::move(parsed));
}

// `request` outlives the awaitable.
awaitable<ServerReply> answer_at(Api& api, const Endpoint& endpoint, const ServerRequest& request) {
  if (request.body.size() > kLargeBody) return answer_large(api, endpoint, request);
  return answer_parsed(api, endpoint, request, parse_body(endpoint, request));
}

}  // namespace

bool is_mlflow(std::string_view target) { return target.starts_with(kPrefix); }

std::optional<ServerReply> refuse(Api& api, const ServerRequest& head) {
  std::optional<ServerReply> refused = refuse_host(api.options, head);
  const Endpoint* const endpoint = find_endpoint(head);
  if (!refused && !endpoint) refused = refusal(no_endpoint(head));
  if (!refused) refused = refuse_tracking(api.options, endpoint->audience, endpoint->scope, head);
  if (!refused) return std::nullopt;
  count_answer(api, head.method, refused->status);
  return in_mlflow_form(std::move(*refused));
}

awaitable<ServerReply> answer(Api& api, ServerRequest request) {
  const Endpoint* const endpoint = find_endpoint(request);
  PODIUM_CHECK(endpoint, "a request is answered that was not refused");
  const std::string method = request.method;
  ServerReply reply;
  try {
    reply = co_await answer_at(api, *endpoint, request);
  } catch (const Busy& busy) {
    reply = refusal({Code::temporarily_unavailable, busy.what()});
  } catch (const NotDurable& error) {
    reply = refusal({Code::temporarily_unavailable, error.what()});
  }
  count_answer(api, method, reply.status);
  co_return reply;
}

ServerReply json_text(std::string body) {
  ServerReply reply;
  reply.headers.set("Content-Type", "application/json");
  reply.headers.set("Cache-Control", "no-store");
  reply.body = std::move(body);
  return reply;
}

const std::string& cluster_of(const Api& api) { return api.loop.state().cluster.id; }

Fault no_such_run(const std::string& run_id) {
  return {Code::resource_does_not_exist, "Run with id=" + run_id.substr(0, 100) + " not found"};
}

awaitable<ServerReply> turn_down(Fault fault) { co_return refusal(fault); }

std::optional<Fault> read_run(const Api& api, Fields& fields, JobId& run) {
  const std::string id = fields.text("run_id").value_or(""), old_id = fields.text("run_uuid").value_or("");
  if (id.empty() && old_id.empty()) fields.refuse("Missing value for required parameter 'run_id'");
  if (!id.empty() && !old_id.empty() && id != old_id)
    fields.refuse("'run_id' and 'run_uuid', its former name, name two runs; give one of them");
  if (!fields.errors().empty()) return fault_of(fields.errors());
  return find_run(api, id.empty() ? old_id : id, fields.limit(), run);
}

std::optional<Fault> find_run(const Api& api, const std::string& run_id, std::optional<JobId> limit,
                              JobId& run) {
  const std::optional<JobId> job = job_of(run_id, cluster_of(api));
  if (!job) return no_such_run(run_id);
  if (limit.value_or(*job) != *job)
    return Fault{Code::permission_denied,
                 "this token is that of job " + to_string(*limit) + ", which may log into its own run alone"};
  run = *job;
  return std::nullopt;
}

void refuse_tag(Fields& fields, const KeyValue& tag) {
  if (!tag.key.empty()) fields.refuse_if(wrong_key("tag", tag.key));
  fields.refuse_if(too_long("tag value", tag.value, kLongestTag));
  if (tag.key != kRunNameTag) return;
  fields.refuse_if(wrong_name("run name", tag.value, kLongestRunName));
  if (tag.value.empty()) fields.refuse("the tag " + tag.key + " is the run's name, which is not empty");
}

std::vector<KeyValue> read_tags(Fields& fields, std::size_t most) {
  std::vector<KeyValue> tags;
  for (Fields& one : fields.objects("tags", most)) {
    KeyValue& tag = tags.emplace_back(one.needed_text("key"), one.text("value").value_or(""));
    fields.refuse(one);
    refuse_tag(fields, tag);
  }
  return tags;
}

Fault fault_of_change(const Errors& errors) {
  Fault fault = fault_of(errors);
  if (fault.code == Code::resource_conflict) fault.code = Code::resource_already_exists;
  return fault;
}

namespace {

// Before the points are written, so that a crash between the two lets the client tell again.
awaitable<std::optional<Fault>> tell_rungs(Api& api, const RunChange& change) {
  const auto* const log = std::get_if<LogToRun>(&change.what);
  if (!log || log->points.empty() || api.loop.state().sweeps.empty()) co_return std::nullopt;
  RungWatch watch = rungs_to_watch(api.loop.state(), change.run);
  std::vector<RungTold> told;
  for (const RunPoint& point : log->points)
    if (point.key == watch.metric) look_at_rungs(watch, change.run, point.step, point.value, told);
  if (told.empty()) co_return std::nullopt;
  // A refusal is that the trial has ended meanwhile, unless nobody was asked.
  std::vector<Command> commands(told.begin(), told.end());
  const std::vector<Errors> refused = co_await api.loop.run_each(std::move(commands));
  for (const Errors& errors : refused)
    for (const Error& error : errors)
      if (error.code == ErrorCode::unavailable) co_return fault_of({error});
  co_return std::nullopt;
}

// What is gone from the lists has no message: whoever follows them fetches them again.
void publish_change(Api& api, const RunChange& change) {
  const auto* const remove = std::get_if<DeleteRun>(&change.what);
  if ((remove && remove->deleted) || std::holds_alternative<DeleteRunGroup>(change.what))
    return api.live.watched() ? api.live.publish("reset", std::nullopt, "{}") : api.live.skip();
  if (change.run.value == 0) return;
  StreamNews news;
  auto& points = news[change.run];
  if (const auto* log = std::get_if<LogToRun>(&change.what); log && api.live.watched())
    for (const RunPoint& point : log->points)
      points[point.key].push_back({point.step, from_millis(point.time_ms), point.value});
  api.feed.add_points(news);
}

}  // namespace

awaitable<ServerReply> carry_out(Api& api, RunChange change) {
  if (const auto fault = co_await tell_rungs(api, change)) co_return refusal(*fault);
  change.now_ms = to_millis(api.loop.now());
  const auto shared = std::make_shared<const RunChange>(std::move(change));
  const Result<std::int64_t> done = co_await api.loop.change(shared);
  if (!done) co_return refusal(fault_of_change(done.errors()));
  publish_change(api, *shared);
  co_return json_text("{}");
}

}  // namespace podium::mlflow
