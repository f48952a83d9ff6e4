// The subcommands: each adds itself to the program and, when chosen, runs and sets session.exit or throws
// Failure.
#pragma once

#include <CLI/App.hpp>

#include "cli/session.h"

namespace podium::cli {

void add_submit(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);
void add_queue(CLI::App& app, Session& session);
void add_follow(CLI::App& app, Session& session);
void add_logs(CLI::App& app, Session& session);
void add_cancel(CLI::App& app, Session& session);
void add_hold(CLI::App& app, Session& session);
void add_release(CLI::App& app, Session& session);
void add_requeue(CLI::App& app, Session& session);
void add_priority(CLI::App& app, Session& session);
void add_extend(CLI::App& app, Session& session);
void add_checkpoints(CLI::App& app, Session& session);
void add_outputs(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_ledger(CLI::App& app, Session& session);
void add_metrics(CLI::App& app, Session& session);
void add_series(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_import_determined(CLI::App& import, Session& session);  // a subcommand of "import"
void add_events(CLI::App& app, Session& session);
void add_accounts(CLI::App& app, Session& session);
void add_services(CLI::App& app, Session& session);
void add_webhooks(CLI::App& app, Session& session);
void add_retention(CLI::App& app, Session& session);
void add_nodes(CLI::App& app, Session& session);
void add_node_operations(CLI::App& nodes, Session& session);  // subcommands of "nodes"
// "podium nodes list", for those who look for it: as "podium nodes" alone.
void add_list_word(CLI::App& command);
bool is_list(const CLI::App& command);
void add_experiments(CLI::App& app, Session& session);
void add_studies(CLI::App& app, Session& session);
void add_study(CLI::App& app, Session& session);
void add_published(CLI::App& app, Session& session);
void add_mlperf(CLI::App& app, Session& session);
void add_bisect(CLI::App& app, Session& session);
void add_board(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);
void add_specs(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_complete(CLI::App& app, Session& session);  // for the scripts of add_completion
void add_version(CLI::App& app, Session& session);

}  // namespace podium::cli
