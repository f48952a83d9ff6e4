// podium published: figures that others published, with their sources.
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/published_text.h"

namespace podium::cli {

void add_published(CLI::App& app, Session& session) {
  const auto benchmark = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("published", "List figures that others published, with their sources");
  command->add_option("BENCHMARK", *benchmark, "Only those of this benchmark");
  command->footer(R"(
Rows of one benchmark may stand in one table; whether they compare with your own depends on hardware, precision, batch
and target. Files of your own are added with the coordinator's --published FOLDER.

Examples:
  podium published
  podium published bert-large-pretraining
  podium published --json | jq '.published[] | {benchmark, devices, value, unit, source}')");
  command->callback([benchmark, &session] {
    const nlohmann::json reply = Client(session).get("/published", {{"benchmark", *benchmark}});
    print(session.json ? reply.dump() + "\n" : published_table(reply.at("published"), detect_terminal()));
  });
}

}  // namespace podium::cli
