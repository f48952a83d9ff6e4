// MLflow's tracking REST, below /api/2.0/mlflow: its routes, and what their handlers use. Refusals have
// MLflow's form (coordinator/mlflow/error.h), and every answer to a request that changes something comes once
// it is on disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coordinator/api/guard.h"
#include "coordinator/api/router.h"
#include "coordinator/mlflow/error.h"
#include "coordinator/mlflow/fields.h"
#include "coordinator/mlflow/plain_log.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/run_reader.h"

namespace podium::mlflow {

struct Endpoint {
  std::string_view method;
  std::string_view path;  // after the prefix, "runs/get"
  Audience audience;
  TrackingScope scope;
  awaitable<ServerReply> (*answer)(Api&, Fields);
  std::optional<PlainLog> (*plain)(std::string_view body) = nullptr;  // reads most bodies
};

// Whether the target lies below the prefix.
bool is_mlflow(std::string_view target);

// As refuse_request() and answer_request(), of such a target.
std::optional<ServerReply> refuse(Api& api, const ServerRequest& head);
awaitable<ServerReply> answer(Api& api, ServerRequest request);

// For the handlers.
ServerReply json_text(std::string body);  // 200
const std::string& cluster_of(const Api& api);
// The mistakes of the fields, or that there is no such run; nothing where `run_id` (or `run_uuid`) names one
// of this cluster, which is then `run`.
std::optional<Fault> read_run(const Api& api, Fields& fields, JobId& run);
// The same of an id. `limit`: the one run that may be asked about; nothing: all.
std::optional<Fault> find_run(const Api& api, const std::string& run_id, std::optional<JobId> limit,
                              JobId& run);
Fault no_such_run(const std::string& run_id);
std::optional<RunGroupId> experiment_id(const std::string& text);
Fault no_such_experiment(const std::string& id);
// Locked while the first run of an experiment is made, or the experiment renamed.
std::string key_of(RunGroupId group);
awaitable<ServerReply> turn_down(Fault fault);
// A conflict is one about the name of an experiment.
Fault fault_of_change(const Errors& errors);
// "{}", or the refusal.
awaitable<ServerReply> carry_out(Api& api, RunChange change);
std::vector<KeyValue> read_tags(Fields& fields, std::size_t most);  // `tags`
void refuse_tag(Fields& fields, const KeyValue& tag);               // where it is not as MLflow wants it

awaitable<ServerReply> create_experiment(Api& api, Fields fields);
awaitable<ServerReply> get_experiment(Api& api, Fields fields);
awaitable<ServerReply> get_experiment_by_name(Api& api, Fields fields);
awaitable<ServerReply> search_experiments(Api& api, Fields fields);
awaitable<ServerReply> delete_experiment(Api& api, Fields fields);
awaitable<ServerReply> restore_experiment(Api& api, Fields fields);
awaitable<ServerReply> update_experiment(Api& api, Fields fields);
awaitable<ServerReply> set_experiment_tag(Api& api, Fields fields);
awaitable<ServerReply> delete_experiment_tag(Api& api, Fields fields);

awaitable<ServerReply> create_run(Api& api, Fields fields);
awaitable<ServerReply> get_run(Api& api, Fields fields);
awaitable<ServerReply> update_run(Api& api, Fields fields);
awaitable<ServerReply> delete_run(Api& api, Fields fields);
awaitable<ServerReply> restore_run(Api& api, Fields fields);
awaitable<ServerReply> search_runs(Api& api, Fields fields);
awaitable<ServerReply> get_metric_history(Api& api, Fields fields);
awaitable<ServerReply> list_artifacts(Api& api, Fields fields);

awaitable<ServerReply> log_metric(Api& api, Fields fields);
awaitable<ServerReply> log_parameter(Api& api, Fields fields);
awaitable<ServerReply> log_batch(Api& api, Fields fields);
awaitable<ServerReply> log_inputs(Api& api, Fields fields);
awaitable<ServerReply> set_tag(Api& api, Fields fields);
awaitable<ServerReply> delete_tag(Api& api, Fields fields);

}  // namespace podium::mlflow
