// podium version.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/print.h"

namespace podium::cli {

void add_version(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("version", "Print the version of this program");
  command->footer("\nExamples:\n  podium version --json");
  command->callback([&session] {
    print(session.json ? nlohmann::json{{"version", PODIUM_VERSION}}.dump() + "\n"
                       : "podium " PODIUM_VERSION "\n");
  });
}

}  // namespace podium::cli
