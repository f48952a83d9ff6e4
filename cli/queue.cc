// podium queue: the jobs that wait, in the order in which the scheduler tries them.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct QueueOptions {
  std::string kind;
  int limit = 100;
};

// "by 2h05m" for a job whose start is reserved; "backfill" for one behind it.
std::string turn_text(const json& job, bool behind_reserved, std::int64_t now) {
  const json reserved = field(job, "reserved_ms");
  if (reserved.is_number() && reserved.get<std::int64_t>() < now + 1000) return "now";
  if (reserved.is_number())
    return "by " + human_seconds(static_cast<double>(reserved.get<std::int64_t>() - now) / 1000);
  return behind_reserved ? "backfill" : "in order";
}

// "+2.3", "-1.0", "51.3"
std::string points_text(const json& job, const char* key, const char* sign) {
  const json points = field(job, key);
  return points.is_number() ? fmt::format("{}{:.1f}", sign, points.get<double>()) : "–";
}

// In device hours by share, of the account and those above it: "312.0/4.5".
std::string factors_text(const json& job) {
  std::string text;
  for (const json& factor : job.value("account_factors", json::array()))
    text += fmt::format("{}{:.1f}", text.empty() ? "" : "/", factor.get<double>() / 3600);
  return text.empty() ? "–" : text;
}

bool any(const json& jobs, const char* key) {
  return std::ranges::any_of(jobs, [key](const json& job) { return !field(job, key).is_null(); });
}

std::string queue_table(const json& jobs, const Terminal& terminal) {
  std::vector<Column> columns{{"", true},
                              {"JOB", true},
                              {"NAME", false, true, 10},
                              {"ACCOUNT", false, true, 8, 1},
                              {"DEVICES", true},
                              {"WALLTIME", true, false, 0, 6},
                              {"PRIORITY", true},
                              {"BY AGE", true, false, 0, 4},
                              {"BY WALLTIME", true, false, 0, 4},
                              {"SCORE", true, false, 0, 5}};
  const bool by_account = any(jobs, "account_factors");
  const bool guaranteed = any(jobs, "guaranteed_by");
  if (by_account) columns.push_back({"FACTOR", true, false, 0, 3});
  if (guaranteed) columns.push_back({"GUARANTEED", false, false, 0, 2});
  columns.push_back({"WAITED", true, false, 0, 5});
  columns.push_back({"TURN"});
  columns.push_back({"BLOCKER"});
  columns.push_back({"REASON", false, true, 32, 7});
  Table table(std::move(columns));
  const std::int64_t now = now_millis();
  bool behind_reserved = false;
  for (const json& job : jobs) {
    std::vector<Cell> row{{std::to_string(integer_field(job, "position"))},
                          {std::to_string(integer_field(job, "job"))},
                          {text_field(job, "name")},
                          {text_field(job, "account")},
                          {size_text(job)},
                          {human_seconds(job.at("walltime_seconds").get<double>())},
                          {std::to_string(integer_field(job, "priority"))},
                          {points_text(job, "age_points", "+")},
                          {points_text(job, "walltime_points", "-")},
                          {points_text(job, "score", "")}};
    if (by_account) row.push_back({factors_text(job)});
    if (guaranteed) row.push_back({field(job, "guaranteed_by").is_null() ? "no" : "yes"});
    row.push_back({human_seconds(job.at("waited_seconds").get<double>())});
    row.push_back({turn_text(job, behind_reserved, now)});
    row.push_back({in_words(text_field(job, "blocker"))});
    row.push_back({reason_text(job), Colour::dim});
    table.add(std::move(row));
    behind_reserved = behind_reserved || field(job, "reserved_ms").is_number();
  }
  return table.render(terminal);
}

std::string apart_table(const json& jobs, const Terminal& terminal) {
  Table table({{"JOB", true},
               {"NAME", false, true, 10},
               {"ACCOUNT", false, true, 8, 1},
               {"DEVICES"},
               {"PRIORITY", true, false, 0, 2},
               {"WAITED", true, false, 0, 3},
               {"REASON", false, true, 34}});
  for (const json& job : jobs)
    table.add({{std::to_string(integer_field(job, "job"))},
               {text_field(job, "name")},
               {text_field(job, "account")},
               {fmt::format("{} {}", size_text(job), text_field(job, "kind"))},
               {std::to_string(integer_field(job, "priority"))},
               {human_seconds(job.at("waited_seconds").get<double>())},
               {reason_text(job), Colour::dim}});
  return table.render(terminal);
}

// "gpu: 3 jobs waiting", its table, and that there is more.
std::string queue_section(const std::string& title, std::int64_t total, const std::string& what,
                          const json& jobs, const std::string& table) {
  return fmt::format("\n{}: {} job{} {}\n", printable(title), human_count(total), total == 1 ? "" : "s",
                     what) +
         table + (total > std::ssize(jobs) ? "--limit shows more\n" : "");
}

std::string queue_page(const json& reply, const Terminal& terminal) {
  const json apart = field(reply, "apart");
  const std::int64_t waiting_apart = integer_field(apart, "total");
  if (reply.at("queues").empty() && waiting_apart == 0) return "No job waits.\n";
  std::string text = "policy " + printable(text_field(reply, "policy")) + "\n";
  for (const json& queue : reply.at("queues")) {
    const json& jobs = queue.at("jobs");
    text += queue_section(text_field(queue, "kind"), integer_field(queue, "total"), "waiting", jobs,
                          queue_table(jobs, terminal));
  }
  if (waiting_apart == 0) return text;
  const json& jobs = apart.at("jobs");
  return text +
         queue_section("apart", waiting_apart, "held or after others", jobs, apart_table(jobs, terminal));
}

void run_queue(const QueueOptions& options, const Session& session) {
  const json reply =
      Client(session).get("/queue", {{"kind", options.kind}, {"limit", std::to_string(options.limit)}});
  print(session.json ? reply.dump() + "\n" : queue_page(reply, detect_terminal()));
}

}  // namespace

void add_queue(CLI::App& app, Session& session) {
  const auto options = std::make_shared<QueueOptions>();
  CLI::App* command = app.add_subcommand("queue", "Jobs that wait, in the order the scheduler tries them");
  command->add_option("-k,--kind", options->kind, "Only jobs that wait for this kind of device")
      ->type_name("KIND");
  command->add_option("--limit", options->limit, "At most this many of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->footer(R"(
Under priority-backfill, and within an account under fair-share, jobs that their account's quota covers (GUARANTEED) go
first, then the jobs of the highest SCORE. The score is the PRIORITY, a point more for each hour of waiting (BY AGE) and a
point less for each hour of walltime, 20 at most (BY WALLTIME); the coordinator's --ageing, --walltime-weight and
--walltime-points change these figures. FACTOR is the account's usage by share in device hours, after those of the
accounts above it: among siblings the smallest goes first. TURN: a job whose start is reserved starts no later than the
time shown; a job behind it starts earlier only where that delays no reserved start (backfill). A narrow window leaves
columns out. podium why JOB says more about one job.

Examples:
  podium queue
  podium queue --kind gpu --limit 20
  podium queue --json | jq '.queues[].jobs[] | {position, job, priority, guaranteed_by, reserved_ms}')");
  command->callback([options, &session] { run_queue(*options, session); });
}

}  // namespace podium::cli
