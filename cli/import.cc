// podium import: what other programs keep, as runs and specs of Podium's.
#include "cli/commands.h"
#include "cli/import_curves.h"

namespace podium::cli {

void add_import(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("import", "Take in experiments and curves of other programs");
  command->require_subcommand(1);
  add_import_curves(*command, session);
  add_import_determined(*command, session);
  command->footer(R"(
Examples:
  podium import tensorboard logs --experiment old-runs
  podium import determined experiment.yaml --out spec.yaml)");
}

}  // namespace podium::cli
