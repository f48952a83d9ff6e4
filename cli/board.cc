// podium board: the best time-to-train of each benchmark, and how it fell.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/board_text.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "common/net/url.h"

namespace podium::cli {

void add_board(CLI::App& app, Session& session) {
  const auto benchmark = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "board", "Show the records: the best time-to-train on each kind and number of devices");
  command->add_option("BENCHMARK", *benchmark,
                      "A benchmark's id: show how its records fell, and all its runs");
  command->footer(R"(
Runs of one benchmark have the same model, task, data, held-out data and target; programs of your own the same command
and target. Times run from the first start to the target and include restarts and the waits between. A run sets no record
where its devices were made up or were of several kinds or numbers, or where it shared nodes with other jobs.
SPEC: the first digits of the sha256 of the job's spec with every default. REPEATS: the job that podium reproduce repeated.

Examples:
  podium board
  podium board bert-large-pretrain-mlm_accuracy-9a1b5c7700e2d3f4
  podium board --json | jq '.benchmarks[] | {id, runs}')");
  command->callback([benchmark, &session] {
    const std::string path = benchmark->empty() ? "/board" : "/board/" + encode_component(*benchmark);
    const nlohmann::json reply = Client(session).get(path);
    const auto text = benchmark->empty() ? board_text : benchmark_text;
    print(session.json ? reply.dump() + "\n" : text(reply, detect_terminal(), now_millis()));
  });
}

}  // namespace podium::cli
