// One function for each operation, one file for each resource. routes.cc maps methods and paths to functions.
#pragma once

#include "coordinator/api/api.h"

namespace podium {

awaitable<ServerReply> get_prometheus(Api& api, Call call);
awaitable<ServerReply> get_health(Api& api, Call call);
awaitable<ServerReply> get_openapi(Api& api, Call call);
awaitable<ServerReply> get_python_helper(Api& api, Call call);

awaitable<ServerReply> post_experiment(Api& api, Call call);
awaitable<ServerReply> post_validate(Api& api, Call call);
awaitable<ServerReply> post_verdicts(Api& api, Call call);
awaitable<ServerReply> get_experiments(Api& api, Call call);
awaitable<ServerReply> get_experiment(Api& api, Call call);

awaitable<ServerReply> get_studies(Api& api, Call call);
awaitable<ServerReply> get_study(Api& api, Call call);
awaitable<ServerReply> get_published(Api& api, Call call);
awaitable<ServerReply> post_published(Api& api, Call call);

awaitable<ServerReply> get_board(Api& api, Call call);
awaitable<ServerReply> get_benchmark(Api& api, Call call);
awaitable<ServerReply> post_reproduce(Api& api, Call call);

awaitable<ServerReply> post_code(Api& api, Call call);
awaitable<ServerReply> get_code(Api& api, Call call);

awaitable<ServerReply> get_jobs(Api& api, Call call);
awaitable<ServerReply> get_job(Api& api, Call call);
awaitable<ServerReply> post_job_operations(Api& api, Call call);
awaitable<ServerReply> post_cancel(Api& api, Call call);
awaitable<ServerReply> post_hold(Api& api, Call call);
awaitable<ServerReply> post_release(Api& api, Call call);
awaitable<ServerReply> post_requeue(Api& api, Call call);
awaitable<ServerReply> post_priority(Api& api, Call call);
awaitable<ServerReply> post_walltime(Api& api, Call call);
awaitable<ServerReply> get_why(Api& api, Call call);
awaitable<ServerReply> get_queue(Api& api, Call call);
awaitable<ServerReply> get_job_mlperf(Api& api, Call call);
awaitable<ServerReply> get_job_events(Api& api, Call call);

awaitable<ServerReply> get_accounts(Api& api, Call call);
awaitable<ServerReply> get_account(Api& api, Call call);
awaitable<ServerReply> post_account(Api& api, Call call);
awaitable<ServerReply> remove_account(Api& api, Call call);

awaitable<ServerReply> get_services(Api& api, Call call);
awaitable<ServerReply> get_service(Api& api, Call call);
awaitable<ServerReply> remove_service(Api& api, Call call);

awaitable<ServerReply> get_webhooks(Api& api, Call call);
awaitable<ServerReply> post_webhook_test(Api& api, Call call);

awaitable<ServerReply> get_retention(Api& api, Call call);
awaitable<ServerReply> get_retention_due(Api& api, Call call);
awaitable<ServerReply> post_retention(Api& api, Call call);
awaitable<ServerReply> remove_retention(Api& api, Call call);

awaitable<ServerReply> get_specs(Api& api, Call call);

awaitable<ServerReply> get_checkpoints(Api& api, Call call);
awaitable<ServerReply> get_outputs(Api& api, Call call);
awaitable<ServerReply> get_output(Api& api, Call call);
awaitable<ServerReply> get_tracking(Api& api, Call call);
awaitable<ServerReply> get_job_artifacts(Api& api, Call call);
awaitable<ServerReply> get_job_ledger(Api& api, Call call);
awaitable<ServerReply> get_ledger(Api& api, Call call);
awaitable<ServerReply> get_metrics(Api& api, Call call);
awaitable<ServerReply> get_series(Api& api, Call call);
awaitable<ServerReply> get_projection(Api& api, Call call);
awaitable<ServerReply> get_series_of_jobs(Api& api, Call call);
awaitable<ServerReply> get_comparison(Api& api, Call call);
awaitable<ServerReply> get_logs(Api& api, Call call);
awaitable<ServerReply> post_logs(Api& api, Call call);

awaitable<ServerReply> get_nodes(Api& api, Call call);
awaitable<ServerReply> get_node(Api& api, Call call);
awaitable<ServerReply> post_drain(Api& api, Call call);
awaitable<ServerReply> post_resume(Api& api, Call call);
awaitable<ServerReply> post_reserve(Api& api, Call call);
awaitable<ServerReply> post_unreserve(Api& api, Call call);
awaitable<ServerReply> post_labels(Api& api, Call call);
awaitable<ServerReply> post_adopt(Api& api, Call call);
awaitable<ServerReply> get_live(Api& api, Call call);

awaitable<ServerReply> post_sync(Api& api, Call call);
awaitable<ServerReply> post_streams(Api& api, Call call);

}  // namespace podium
