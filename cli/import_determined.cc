// podium import determined: an experiment's configuration as a spec, without a coordinator.
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/determined/translate.h"
#include "cli/new_file.h"
#include "cli/print.h"
#include "cli/spec_file.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct DeterminedOptions {
  std::string file, out;
};

json notes_of(const Translation& translation, bool left) {
  json notes = json::array();
  for (const Note& note : translation.notes)
    if (note.left == left) notes.push_back({{"line", note.line}, {"key", note.key}, {"text", note.text}});
  return notes;
}

void tell_notes(const Translation& translation, const std::string& file) {
  for (const bool left : {true, false})
    for (const Note& note : translation.notes)
      if (note.left == left) std::fprintf(stderr, "%s\n", printable(note_text(note, file)).c_str());
}

void run_import_determined(const DeterminedOptions& options, Session& session) {
  const SpecFile read = read_spec_file(options.file);
  if (!options.out.empty()) require_free(options.out);
  const Result<Translation> translation = translate_determined(read.text, read.name);
  if (!translation) throw Failure(Exit::refused, describe(translation.errors()));
  const std::string text = spec_text(*translation, read.name);
  if (!options.out.empty()) {
    NewFile file(options.out);
    file.write(text);
    file.finish();
  }
  if (session.json)
    return print(json{{"spec", translation->spec},
                      {"left", notes_of(*translation, true)},
                      {"changed", notes_of(*translation, false)}}
                     .dump() +
                 "\n");
  tell_notes(*translation, read.name);
  print(options.out.empty()
            ? text
            : fmt::format("{} is a valid spec; {} of {} has no counterpart\n", printable(options.out),
                          notes_of(*translation, true).size(), printable(read.name)));
}

}  // namespace

void add_import_determined(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DeterminedOptions>();
  CLI::App* command = app.add_subcommand("determined", "Translate an experiment's configuration into a spec");
  command->add_option("FILE", options->file, "The configuration, as det experiment create takes it, or -")
      ->required();
  command->add_option("--out", options->out, "Write the spec to this file (default: standard output)")
      ->type_name("FILE");
  command->footer(R"(
What does not translate is told with its line, why, and what to do instead; the spec that is written is valid.

Examples:
  podium import determined experiment.yaml --out spec.yaml && podium validate spec.yaml)");
  command->callback([options, &session] { run_import_determined(*options, session); });
}

}  // namespace podium::cli
