#include "cli/follow.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>

#include "cli/attempts.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/live.h"
#include "cli/log_reader.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/projection_text.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using boost::asio::awaitable;
using nlohmann::json;

constexpr std::int64_t kPlainInterval = 10'000;  // ms between two lines where nothing can be redrawn

// Since when the job is in its state, as far as it says.
Time since(const json& job) {
  const std::string state = text_field(job, "state");
  const char* key = has_ended(job)                                            ? "ended_ms"
                    : state == "running"                                      ? "running_since_ms"
                    : state == "queued" && integer_field(job, "attempt") == 0 ? "submitted_ms"
                                                                              : "";
  const json millis = field(job, key);
  return from_millis(millis.is_number() ? millis.get<std::int64_t>() : now_millis());
}

// Draws a job as it changes: a line for each state, and one for its progress, which is redrawn in place on a
// terminal and printed now and then elsewhere; JSON lines for programs.
class Display {
 public:
  explicit Display(bool as_json) : json_(as_json), terminal_(detect_terminal()) {}

  void job(const json& job) {
    if (json_) return print(json{{"event", "job"}, {"data", job}}.dump() + "\n");
    const bool changed = !job_.is_object() || job_["state"] != job["state"] ||
                         integer_field(job_, "attempt") != integer_field(job, "attempt");
    job_ = job;
    start_pace(changed);
    if (changed && terminal_.interactive) tell_state();
    if (terminal_.interactive || changed) draw(since(job_));
  }

  void metrics(const json& metrics) {
    if (json_) return print(json{{"event", "metrics"}, {"data", metrics}}.dump() + "\n");
    for (const json& point : metrics.at("points"))
      job_["latest"][point.at("key").get<std::string>()] = point.at("value");
  }

  void reset() {
    if (json_) print(json{{"event", "reset"}, {"data", json::object()}}.dump() + "\n");
  }

  // When it reaches its target; "" where nobody can say.
  void expect(const std::string& text) { expected_ = text; }

  void trouble(const std::string& why) {
    if (json_ || trouble_ == why) return;
    trouble_ = why;
    clear();
    std::fprintf(stderr, "podium: %s; trying again\n", printable(why).c_str());
  }

  void tick() {
    if (json_ || !job_.is_object()) return;
    if (terminal_.interactive || now_millis() - drawn_ >= kPlainInterval) draw(from_millis(now_millis()));
  }

  void clear() {
    if (!json_ && terminal_.interactive) print("\r\x1b[K");
  }

  const Terminal& terminal() const { return terminal_; }

 private:
  void start_pace(bool changed) {
    const json progress = field(job_, "progress");
    const std::int64_t step = progress.is_object() ? integer_field(progress, "step") : 0;
    if (changed || step < since_.step) since_ = {step, now_millis()};
  }

  void tell_state() {
    clear();
    const int attempt = static_cast<int>(integer_field(job_, "attempt"));
    print(fmt::format("{}  job {} {}{}\n", local_time_of_day(since(job_)), integer_field(job_, "id"),
                      state_text(job_), attempt > 1 ? fmt::format(", attempt {}", attempt) : ""));
  }

  void draw(Time at) {
    const std::int64_t now = now_millis();
    const std::string line =
        progress_line(job_, since_, now, terminal_.interactive ? terminal_.width - 1 : 0, expected_);
    if (terminal_.interactive) {
      print("\r\x1b[K" + line);
    } else if (line != last_line_) {
      print(local_time_of_day(at) + "  " + line + "\n");
    }
    last_line_ = line;
    drawn_ = now;
  }

  bool json_;
  Terminal terminal_;
  json job_;
  Pace since_;
  std::string trouble_, expected_;
  std::string last_line_;
  std::int64_t drawn_ = 0;
};

// What a program of the user's own prints, between the lines of the display.
class Output {
 public:
  Output(int rank, Display& display)
      : reader_(wish_of(rank), [&display](const std::string& text) {
          display.clear();
          print(text);
        }) {}

  awaitable<void> look(Connection& connection, json job) {
    if (!is_wished(job)) co_return;
    try {
      co_await reader_.read(connection, job);
    } catch (const Failure& failure) {  // the stream, too, tells of a coordinator that is away
      if (failure.status() != Exit::unreachable) throw;
    }
  }

  // False when the user did not wait for it.
  bool end(const Client& client, const json& job) {
    if (!is_wished(job)) return true;
    boost::asio::io_context loop(1);
    Connection connection(loop.get_executor(), client);
    const bool whole = run_unless_interrupted(loop, rest(connection, job));
    reader_.finish();
    return whole;
  }

 private:
  static bool is_wished(const json& job) { return job.is_object() && flag_field(job, "command"); }
  static LogWish wish_of(int rank) {
    LogWish wish;
    wish.rank = rank;
    return wish;
  }
  awaitable<void> rest(Connection& connection, json job) { co_await reader_.read_rest(connection, job); }

  LogReader reader_;
};

// When a job that runs is expected to reach its target, asked now and then.
class Expectation {
 public:
  explicit Expectation(Display& display) : display_(display) {}

  awaitable<void> look(Connection& connection, json job) {
    if (!job.is_object() || !runs_to_target(job)) co_return;
    if (now_millis() < next_) co_return;
    next_ = now_millis() + kPlainInterval;
    const std::string path = fmt::format("/jobs/{}/projection", integer_field(job, "id"));
    try {
      const json projection = co_await connection.get(path);
      display_.expect(target_in_text(projection, now_millis()));
    } catch (const Failure&) {  // the stream tells of a coordinator that is away
      display_.expect("");
    }
  }

 private:
  Display& display_;
  std::int64_t next_ = 0;
};

std::string outcome(const json& job) {
  const json target = field(job, "target");
  std::string text = text_field(job, "state", "?");
  if (field(job, "started_ms").is_number()) text += " after " + run_time_text(job, now_millis());
  if (target.is_object() && field(target, "reached_step").is_number())
    text += fmt::format(", target {} reached at step {}", text_field(target, "metric", "?"),
                        human_count(target["reached_step"].get<std::int64_t>()));
  const std::string time = time_to_train_text(job);
  if (!time.empty()) text += ", time to train " + time;
  const std::string reason = reason_text(job);
  return text + (reason.empty() ? "" : ": " + reason);
}

void print_end(const json& job, const Terminal& terminal) {
  const std::string state = text_field(job, "state", "?");
  print(fmt::format("job {} {} {}\n", job.at("id").get<std::int64_t>(), printable(text_field(job, "name")),
                    paint(terminal, state_colour(state), printable(outcome(job)))));
  print(attempts_table(job.value("attempts", json::array()), terminal));
}

}  // namespace

namespace {

// A job that nobody can be told of goes on.
[[noreturn]] void leave(const Failure& failure, const json& last, std::int64_t id) {
  if (failure.status() != Exit::output || (last.is_object() && has_ended(last))) throw Failure(failure);
  throw Failure(Exit::output, fmt::format("{}; job {} goes on: podium follow {}", failure.what(), id, id));
}

Exit watch_to_end(const Session& session, std::int64_t id, int rank, json& last) {
  const Client client(session);
  Display display(session.json);
  Output output(rank, display);
  Expectation expectation(display);
  LiveHandlers handlers;
  handlers.on_job = [&](const json& job) {
    display.job(last = job);
    return !has_ended(job);
  };
  handlers.on_metrics = [&](const json& metrics) { display.metrics(metrics); };
  handlers.on_reset = [&] { display.reset(); };
  handlers.on_trouble = [&](const std::string& why) { display.trouble(why); };
  handlers.on_tick = [&] { display.tick(); };
  handlers.on_look = [&](Connection& connection) -> awaitable<void> {
    const json job = session.json ? json() : last;
    co_await output.look(connection, job);
    co_await expectation.look(connection, job);
  };
  Exit end = watch_job(client, id, handlers);
  if (end == Exit::ok && !session.json && !output.end(client, last)) end = Exit::interrupted;
  display.clear();
  if (end == Exit::interrupted) {
    if (!session.json)
      print(fmt::format(
          "Detached; job {} goes on. Follow it again: podium follow {}. Stop it: podium cancel {}\n", id, id,
          id));
    return end;
  }
  if (!session.json) print_end(client.get(fmt::format("/jobs/{}", id)), display.terminal());
  return last.at("state") == "succeeded" ? Exit::ok : Exit::job_failed;
}

}  // namespace

Exit follow_job(const Session& session, std::int64_t id, int rank) {
  json last;
  try {
    return watch_to_end(session, id, rank, last);
  } catch (const Failure& failure) {
    leave(failure, last, id);
  }
}

void add_follow(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  const auto rank = std::make_shared<int>(0);
  CLI::App* command = app.add_subcommand("follow", "Watch a job until it ends; Ctrl-C detaches");
  add_job(*command, *id);
  command->add_option("-r,--rank", *rank, "Print the output of this rank (of a program of your own)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command->footer(R"(
Shows a training's progress; of a program of your own also its output. podium logs JOB --follow prints the output of all
ranks. --json prints news of the job and its metrics only; {"event": "reset"} says that points may be missing before it,
for example because the coordinator was restarted: podium metrics JOB has them all.

Examples:
  podium follow 12
  podium follow 12 --json | jq -c 'select(.event == "metrics") | .data.points[]'

Exit status: 0 when the job succeeded, 1 when it failed, was cancelled or stopped by its sweep, 5 where its news could not
be written, whatever becomes of it, 130 after Ctrl-C.)");
  command->callback([id, rank, &session] { session.exit = follow_job(session, *id, *rank); });
}

}  // namespace podium::cli
