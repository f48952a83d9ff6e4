// podium logs: what a job's processes wrote.
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct Options {
  std::int64_t job = 0;
  std::string attempt;
  int rank = 0;
  bool out = false;
  bool err = false;
  bool follow = false;
  bool all = false;
  std::string tail = "64KiB";
};

class LogReader {
 public:
  LogReader(const Client& client, const Options& options) : client_(client), options_(options) {}

  // Prints what is new and says whether there was anything.
  bool read(const std::string& tail) {
    Query query{{"attempt", options_.attempt},
                {"rank", std::to_string(options_.rank)},
                {"stream", options_.out ? "stdout" : "stderr"}};
    if (tail.empty()) query.emplace_back("offset", std::to_string(next_));
    if (!tail.empty()) query.emplace_back("tail", tail);
    const HttpResponse response = client_.get_text(fmt::format("/jobs/{}/logs", options_.job), query);
    print(response.body);
    const std::string next = response.headers.get("X-Podium-Next-Offset");
    if (next.empty())
      throw Failure(Exit::refused,
                    "the coordinator's answer has no X-Podium-Next-Offset; are the versions alike?");
    const std::int64_t before = std::exchange(next_, std::stoll(next));
    return next_ > before && !response.body.empty();
  }

 private:
  const Client& client_;
  const Options& options_;
  std::int64_t next_ = 0;
};

void follow(const Client& client, const Options& options, LogReader& reader) {
  while (true) {
    const bool ended = has_ended(client.get(fmt::format("/jobs/{}", options.job)));
    while (reader.read("")) {
    }
    if (ended) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

void run(const Options& options, const Session& session) {
  const auto tail = parse_size(options.tail);
  if (!tail) throw Failure(Exit::usage, fmt::format("--tail must read like 64KiB, not \"{}\"", options.tail));
  const Client client(session);
  LogReader reader(client, options);
  if (!options.all) reader.read(std::to_string(*tail));
  if (options.all)
    while (reader.read("")) {
    }
  if (options.follow) follow(client, options, reader);
}

}  // namespace

void add_logs(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("logs", "Print what a job's process wrote");
  command->add_option("JOB", options->job, "The job's number")->required();
  command->add_option("-a,--attempt", options->attempt, "This attempt (default: the last)")->type_name("N");
  command->add_option("-r,--rank", options->rank, "This rank")->type_name("N")->capture_default_str();
  CLI::Option* out = command->add_flag("--stdout", options->out, "Its standard output");
  command->add_flag("--stderr", options->err, "Its standard error (the default)")->excludes(out);
  command->add_option("--tail", options->tail, "Begin this far before the end")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_flag("--all", options->all, "Begin at the beginning");
  command->add_flag("-f,--follow", options->follow, "Go on until the job ends");
  command->footer(R"(
Examples:
  podium logs 12                       the end of rank 0's standard error
  podium logs 12 --rank 1 --follow
  podium logs 12 --attempt 1 --stdout --all > attempt-1.txt)");
  command->callback([options, &session] { run(*options, session); });
}

}  // namespace podium::cli
