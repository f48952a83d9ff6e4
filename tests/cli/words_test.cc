// What is said of times, places and ends, so that a person understands it without the API's words.
#include "cli/humanise.h"
#include "common/base/time.h"
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// SEEN counted from the coordinator's start for nodes that had long been silent.
TEST_F(Commands, ANodeThatWasNotHeardSinceTheStartIsSaid) {
  const auto node = [](const char* id, const json& seen) {
    return json{{"id", id}, {"state", "up"}, {"last_seen_ms", seen}, {"devices", json::array()}};
  };
  fake_.on("GET /api/v1/nodes",
           json{{"nodes", {node("node-1", cli::now_millis() - 4200), node("node-2", nullptr)}}});
  fake_.on("GET /api/v1/health", json{{"uptime_seconds", 60.0}});
  program_.environment["TZ"] = "UTC";
  const auto minute = [](std::int64_t millis) {
    std::string text = format_time(from_millis(millis)).substr(0, 16);
    return text.replace(10, 1, " ");
  };
  const std::string start = minute(cli::now_millis() - 60'000), a_minute_later = minute(cli::now_millis());
  const std::string out = program_.run({"nodes"}).out;
  EXPECT_THAT(out, ::testing::ContainsRegex("[0-9]+s ago\n"));
  EXPECT_THAT(out, AnyOf(HasSubstr("not since " + start), HasSubstr("not since " + a_minute_later)));
}

TEST_F(Commands, ShowTellsTheDevicesOfOneProcessANode) {
  json job = test::job_json(12, "running");
  json tasks = json::array();
  for (const char* name : {"gpu-1", "gpu-2"})
    tasks.push_back(
        {{"rank", tasks.size()}, {"node", name}, {"device", 0}, {"devices", {0, 1, 2, 3, 4, 5, 6, 7}}});
  job["attempts"] = {{{"number", 1}, {"started_ms", 2000}, {"end", "node_lost"}, {"tasks", tasks}}};
  job["spec"] = {{"command", {"torchrun"}},
                 {"code",
                  {{"git", "v1.2"},
                   {"folder", "src"},
                   {"commit", std::string(40, 'c')},
                   {"snapshot", std::string(64, 'd')}}}};
  fake_.on("GET /api/v1/jobs/12", job);
  fake_.on("GET /api/v1/jobs/12/ledger", {{"energy", nullptr}, {"cost", nullptr}});
  const std::string out = program_.run({"show", "12"}).out;
  EXPECT_THAT(out, HasSubstr("0 on gpu-1 devices 0–7; 1 on gpu-2 devices 0–7"));
  EXPECT_THAT(out, HasSubstr("node lost"));
  EXPECT_THAT(out, HasSubstr("code          folder src as commit " + std::string(40, 'c') +
                             " has it (v1.2), snapshot dddddddddddd\n"));
}

TEST_F(Commands, TimesInSentencesAreLocal) {
  program_.environment["TZ"] = "UTC-2";
  json job = test::job_json(12, "queued");
  job["reason"] = "starts again at 2026-03-01 12:00:05 UTC";
  fake_.on("GET /api/v1/jobs", json{{"jobs", {job}}, {"total", 1}});
  fake_.on("GET /api/v1/jobs/12", job);
  for (const char* command : {"list", "show"})
    EXPECT_THAT(program_
                    .run(command == std::string("list") ? std::vector<std::string>{"list"}
                                                        : std::vector<std::string>{"show", "12"})
                    .out,
                HasSubstr("starts again at 2026-03-01 14:00:05\n"));
  fake_.on(
      "GET /api/v1/jobs/12/events",
      json{{"events",
            {{{"id", 1}, {"time_ms", 1'772'366'400'250}, {"type", "job_queued"}, {"text", job["reason"]}}}}});
  EXPECT_THAT(program_.run({"events", "12"}).out,
              HasSubstr("2026-03-01 14:00:00  job_queued  starts again at 2026-03-01 14:00:05\n"));
}

// "1/0": of a program that does not say how many steps there will be.
TEST_F(Commands, StepsWithoutAnEndAreCountedAlone) {
  json job = test::job_json(12, "running");
  job["progress"]["steps"] = 0;
  fake_.on("GET /api/v1/jobs", json{{"jobs", {job}}, {"total", 1}});
  EXPECT_THAT(program_.run({"list"}).out, HasSubstr("  2 cpu     120  "));
}

// "by 0s"
TEST_F(Commands, AReservationOfThisSecondIsNow) {
  const json job{{"position", 1},         {"job", 11},           {"name", "a"},
                 {"account", "default"},  {"devices", 1},        {"walltime_seconds", 60},
                 {"priority", 50},        {"waited_seconds", 1}, {"reserved_ms", cli::now_millis() + 800},
                 {"blocker", "back_off"}, {"reason", "r"}};
  fake_.on("GET /api/v1/queue",
           json{{"policy", "p"}, {"queues", {{{"kind", "cpu"}, {"total", 1}, {"jobs", {job}}}}}});
  EXPECT_THAT(program_.run({"queue"}).out, HasSubstr("  now   back off  r\n"));
}

// "sleep" had a time to train.
TEST_F(Commands, AProgramWithoutATargetHasNoTimeToTrain) {
  json job = test::job_json(12, "succeeded");
  job["time_to_train_seconds"] = 519;
  job["command"] = true;
  fake_.on("GET /api/v1/jobs/12", job);
  EXPECT_THAT(program_.run({"show", "12"}).out, HasSubstr("time to train 8m39s\n"));
  job["target"] = nullptr;
  fake_.on("GET /api/v1/jobs/13", job);
  EXPECT_THAT(program_.run({"show", "13"}).out, Not(HasSubstr("time to train")));
}

}  // namespace
}  // namespace podium
