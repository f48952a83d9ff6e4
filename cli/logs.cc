// podium logs: what a job's processes wrote.
#include <spdlog/fmt/fmt.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/log_reader.h"
#include "cli/print.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using boost::asio::awaitable;
using nlohmann::json;

struct LogsOptions {
  std::int64_t job = 0;
  int attempt = 0;
  int rank = -1;
  bool out = false;
  bool err = false;
  bool follow = false;
  bool all = false;
  std::string tail;
};

LogWish wish_of(const LogsOptions& options, bool as_json) {
  LogWish wish;
  wish.as_json = as_json;
  if (options.attempt > 0) wish.attempt = options.attempt;
  if (options.rank >= 0) wish.rank = options.rank;
  wish.out = !options.err;
  wish.err = !options.out;
  if (options.all) wish.tail = Tail{};
  if (options.tail.empty()) return wish;
  wish.tail = parse_tail(options.tail);
  if (!wish.tail)
    throw Failure(
        Exit::usage,
        fmt::format("--tail must be a number of lines such as 30, or a size such as 64KiB, not \"{}\"",
                    options.tail));
  return wish;
}

// Why there is nothing to read; said once each time that it is another reason.
class Silence {
 public:
  void explain(const json& job) {
    const std::string reason = reason_text(job);
    std::string text = fmt::format("job {} is {}", integer_field(job, "id"), state_text(job));
    if (!reason.empty()) text += ": " + reason;
    if (text == said_) return;
    said_ = text;
    std::fprintf(stderr, "podium: %s\n", printable(text).c_str());
  }

 private:
  std::string said_;
};

std::string nothing_text(const json& job) {
  const std::string name = fmt::format("job {}", integer_field(job, "id"));
  return integer_field(job, "attempt") == 0 ? name + " has not been started and has written nothing"
                                            : name + " has written nothing that the options select";
}

awaitable<void> read(const LogsOptions& options, Connection& connection, LogReader& reader) {
  Silence silence;
  bool any = false;
  boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
  const std::string path = fmt::format("/jobs/{}", options.job);
  json job;
  bool away = false, answered = false;
  while (true) {
    try {
      job = co_await connection.get(path);
      bool more = co_await reader.read(connection, job);
      if (options.follow && has_ended(job)) more = co_await reader.read_rest(connection, job) || more;
      any = any || more;
      away = false;
      answered = true;
      if (text_field(job, "state") == "queued") silence.explain(job);
      if (!options.follow || has_ended(job)) break;
    } catch (const Failure& failure) {
      // A coordinator that has answered may be away for a while: what was read is not read again.
      if (!options.follow || !answered || failure.status() != Exit::unreachable) throw;
      if (!std::exchange(away, true))
        std::fprintf(stderr, "podium: %s; trying again\n", printable(failure.what()).c_str());
    }
    pause.expires_after(std::chrono::milliseconds(500));
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
  if (!any) std::fprintf(stderr, "podium: %s\n", nothing_text(job).c_str());
}

void run_logs(const LogsOptions& options, Session& session) {
  LogReader reader(wish_of(options, session.json), [](const std::string& text) { print(text); });
  const Client client(session);
  boost::asio::io_context loop(1);
  Connection connection(loop.get_executor(), client);
  if (!run_unless_interrupted(loop, read(options, connection, reader))) session.exit = Exit::interrupted;
  reader.finish();
}

}  // namespace

void add_logs(CLI::App& app, Session& session) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "Print what a job's processes wrote");
  add_job(*command, options->job);
  command->add_option("-a,--attempt", options->attempt, "This attempt (default: the last)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("-r,--rank", options->rank, "This rank (default: all)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000));
  CLI::Option* out = command->add_flag("--stdout", options->out, "Only standard output");
  command->add_flag("--stderr", options->err, "Only standard error")->excludes(out);
  CLI::Option* tail =
      command->add_option("--tail", options->tail, "Begin this many lines before the end, or bytes: 64KiB")
          ->type_name("N|SIZE");
  command->add_flag("--all", options->all, "Begin at the beginning")->excludes(tail);
  command->add_flag("-f,--follow", options->follow, "Go on until the job ends, through its restarts");
  command->footer(R"(
With several ranks each line begins with [RANK]; where both outputs are shown, lines of standard error begin with [stderr]
or [RANK stderr]. A line that is rewritten, such as a progress bar, is shown once a second in its last state. A line
without an end is shown once nothing has been added to it for a second. A single output is printed as it was written.
With --json each line is an object {"attempt", "rank", "stream", "line"} once it has ended; bytes that are not UTF-8 are
replaced in it. A line of more than 64 KiB comes in parts.

Examples:
  podium logs 12                       the end of what each rank wrote
  podium logs 12 --tail 30 --follow
  podium logs 12 --rank 1 --follow
  podium logs 12 --attempt 1 --stdout --all > attempt-1.txt
  podium logs 12 --all --json | jq -r 'select(.rank == 3).line')");
  command->callback([options, &session] { run_logs(*options, session); });
}

}  // namespace podium::cli
