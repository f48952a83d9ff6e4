// podium submit: one spec becomes an experiment and its jobs.
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/follow.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/spec_code.h"
#include "cli/spec_file.h"
#include "cli/terminal.h"
#include "common/net/token.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct SubmitOptions {
  std::string file;
  std::string key;
  bool follow = false;
};

json submission(const SubmitOptions& options, const Client& client) {
  const SpecFile spec = read_spec_file(options.file);
  std::string warning;
  const json source = find_source(options.file, warning);
  if (!warning.empty()) std::fprintf(stderr, "podium: %s\n", warning.c_str());
  json body{{"spec", spec.text}, {"file", spec.name}};
  if (!source.is_null()) body["source"] = source;
  if (auto code = pack_spec_code(spec, options.file)) {
    body["code"] =
        client.post_bytes("/code", "application/zstd", std::move(code->snapshot.packed)).at("sha256");
    if (!code->commit.empty()) body["code_commit"] = code->commit;
  }
  return body;
}

std::string submitted_text(const json& reply) {
  const json& experiment = reply.at("experiment");
  std::string text = fmt::format("experiment {} ({})\n", experiment.at("id").get<std::int64_t>(),
                                 printable(text_field(experiment, "name")));
  for (const json& job : reply.at("jobs")) {
    const std::string reason = reason_text(job);
    text += fmt::format("job {}  {}  {}{}\n", job.at("id").get<std::int64_t>(),
                        printable(text_field(job, "name")), text_field(job, "state"),
                        reason.empty() ? "" : "  " + printable(reason));
  }
  const json service = field(reply, "service");
  if (const std::string url = text_field(service, "url"); !url.empty())
    text += fmt::format("service {}  {}  (podium services shows how far it is)\n",
                        printable(text_field(service, "name")), printable(url));
  return text;
}

// Nobody shall submit twice because the answer was lost.
void tell_jobs(const json& reply, bool as_json) {
  try {
    print(as_json ? reply.dump() + "\n" : submitted_text(reply));
  } catch (const Failure& failure) {
    std::string jobs;
    for (const json& job : reply.at("jobs")) jobs += fmt::format(" {}", job.at("id").get<std::int64_t>());
    throw Failure(failure.status(), fmt::format("{}; submitted all the same: job{}", failure.what(), jobs));
  }
}

void run_submit(const SubmitOptions& options, Session& session) {
  const Client client(session);
  const json reply = client.post("/experiments", submission(options, client),
                                 options.key.empty() ? random_hex(16) : options.key, Patience::great);
  tell_jobs(reply, session.json);
  if (!options.follow) return;
  for (const json& job : reply.at("jobs")) {
    const Exit end = follow_job(session, job.at("id").get<std::int64_t>());
    if (end != Exit::ok) session.exit = end;
    if (end == Exit::interrupted) return;
  }
}

}  // namespace

void add_submit(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = app.add_subcommand("submit", "Submit a spec; prints the ids of its jobs");
  command->add_option("FILE", options->file, "The spec, or - for standard input")->required();
  command->add_flag("-f,--follow", options->follow, "Follow the jobs, one after the other, to their end");
  command->add_option("--key", options->key, "Idempotency key: the same key again gives the first answer")
      ->type_name("TEXT");
  command->footer(R"(
Examples:
  podium submit configs/quickstart.yaml --follow
  podium submit my.yaml --json | jq '.jobs[].id'
  sed 's/seed: 1/seed: 2/' my.yaml | podium submit -

The experiment records the spec's git repository, commit and path, and whether it had uncommitted changes. The folder that
a spec names under code is packed and sent along; with code.git, as that commit, tag or branch of the spec's repository
has it. docs/your-own-program.md says more.)");
  command->callback([options, &session] { run_submit(*options, session); });
}

}  // namespace podium::cli
