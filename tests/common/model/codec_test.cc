// Every structure that crosses a wire or a disk comes back as it went, and its bytes are the golden file's.
#include "common/model/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/base/file.h"
#include "common/model/launch.h"
#include "common/model/sync.h"
#include "common/model/worker_event.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;

json golden(const std::string& name) {
  return json::parse(read_file(test::source_path("tests/golden/" + name)));
}

TEST(Codec, NumbersJsonCannotHoldTravelByName) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(number_from_json(number_to_json(infinity)), infinity);
  EXPECT_EQ(number_from_json(number_to_json(-infinity)), -infinity);
  EXPECT_TRUE(std::isnan(number_from_json(number_to_json(std::nan("")))));
  EXPECT_EQ(number_from_json(number_to_json(0.1)), 0.1);
  EXPECT_THROW(number_from_json("many"), std::invalid_argument);
}

TEST(Codec, LaunchMatchesItsGoldenFile) {
  const json file = golden("launch.json");
  EXPECT_EQ(to_json(launch_from_json(file)), file);
}

TEST(Codec, ALaunchSaysWhereTheWeightsOfAnotherJobLie) {
  Launch launch = launch_from_json(golden("launch.json"));
  launch.spec.model.init.clear();
  launch.spec.model.init_job = JobCheckpoint{{12}, CheckpointChoice::best};
  launch.spec.checkpoint.best.clear();
  launch.init_folder = "/shared/jobs/12/checkpoints";
  const json file = to_json(launch);
  EXPECT_EQ(file["paths"]["init"], "/shared/jobs/12/checkpoints");
  EXPECT_EQ(file["spec"]["model"]["init_from"], (json{{"job", 12}, {"checkpoint", "best"}}));
  EXPECT_FALSE(file["spec"]["model"].contains("init")) << "older programs take it for a path";
  EXPECT_EQ(file["spec"]["checkpoint"]["best"], "none");
  const Launch read = launch_from_json(file);
  EXPECT_EQ(to_json(read), file);
  EXPECT_EQ(read.spec.model.init_job, launch.spec.model.init_job);
  EXPECT_EQ(read.spec.model.init, "");
  EXPECT_EQ(read.spec.checkpoint.best, "");
  EXPECT_EQ(read.init_folder, launch.init_folder);
}

TEST(Codec, ALaunchOfACommandMayHaveTheTokenOfItsRun) {
  Launch launch = launch_from_json(golden("launch.json"));
  EXPECT_FALSE(to_json(launch).contains("tracking"));
  launch.run_id = "0123456789abcdef000000000000000c";
  launch.run_token = "podium-run-12-abc";
  const json file = to_json(launch);
  EXPECT_EQ(file["tracking"], (json{{"run_id", launch.run_id}, {"token", launch.run_token}}));
  EXPECT_EQ(launch_from_json(file).run_id, launch.run_id);
  EXPECT_EQ(launch_from_json(file).run_token, launch.run_token);
}

TEST(Codec, AnOrderOfAMeasuredRunSaysWhatTheCoordinatorsClockShows) {
  NodeOrders orders;
  orders.tasks.emplace_back().launch = launch_from_json(golden("launch.json"));
  EXPECT_FALSE(to_json(orders)["tasks"][0].contains("clock"));
  orders.tasks[0].clock = {Duration{-5}, 3, from_millis(1'700'000'000'000), 2};
  const json file = to_json(orders);
  EXPECT_EQ(
      file["tasks"][0]["clock"],
      (json{{"ahead_ms", -5}, {"first_start_ms", 1'700'000'000'000}, {"first_steps", 2}, {"steps", 3}}));
  EXPECT_EQ(node_orders_from_json(file).tasks.at(0).clock, orders.tasks[0].clock);
}

// The hash of the checkpoint stands where an older program passes over it.
TEST(Codec, AnOlderProgramReadsTheFirstWeightsThatAreOfOneCheckpointAlone) {
  Launch launch = launch_from_json(golden("launch.json"));
  ModelSpec& model = launch.spec.model;
  model.init = "run/step-00000200";
  model.init_xxh3 = "0123456789abcdef";
  json wire = to_json(launch)["spec"]["model"];
  EXPECT_EQ(wire["init"], "run/step-00000200");
  EXPECT_EQ(wire["init_xxh3"], "0123456789abcdef");
  EXPECT_EQ(to_json(launch.spec)["model"]["init"],
            (json{{"path", "run/step-00000200"}, {"xxh3", "0123456789abcdef"}}));
  for (const json& spec : {to_json(launch)["spec"], to_json(launch.spec)}) {
    const ModelSpec read = job_spec_from_json(spec).model;
    EXPECT_EQ(read.init, model.init);
    EXPECT_EQ(read.init_xxh3, model.init_xxh3);
    EXPECT_FALSE(read.init_job);
  }
  model.init.clear();
  model.init_job = JobCheckpoint{{12}, CheckpointChoice::step, 200};
  wire = to_json(launch)["spec"]["model"];
  EXPECT_FALSE(wire.contains("init"));
  EXPECT_EQ(wire["init_from"], (json{{"job", 12}, {"checkpoint", 200}, {"xxh3", "0123456789abcdef"}}));
  for (const json& spec : {to_json(launch)["spec"], to_json(launch.spec)}) {
    const ModelSpec read = job_spec_from_json(spec).model;
    EXPECT_EQ(read.init_job, model.init_job);
    EXPECT_EQ(read.init_xxh3, model.init_xxh3);
  }
  json spec = to_json(launch.spec);
  spec["model"]["init"]["xxh3"] = "0123";
  EXPECT_THROW(job_spec_from_json(spec), std::invalid_argument);
}

TEST(Codec, LaunchOfAnotherVersionIsRefused) {
  json file = golden("launch.json");
  file["version"] = 2;
  EXPECT_THROW(launch_from_json(file), std::invalid_argument);
}

TEST(Codec, ASpecFromBeforeLayoutsAndPhasesTrainsAsItDid) {
  json file = golden("launch.json")["spec"];
  const json now = file;
  for (const char* key : {"interleave", "sequence", "distributed_optimizer"}) file["parallel"].erase(key);
  for (const char* key : {"fp8", "stochastic_rounding", "recompute", "unpadded", "timed_products", "phases"})
    file["training"].erase(key);
  file["model"].erase("init");
  for (const char* key : {"begin_anew", "best"}) file["checkpoint"].erase(key);
  const JobSpec spec = job_spec_from_json(file);
  EXPECT_EQ(spec.parallel.interleave, 1);
  EXPECT_FALSE(spec.parallel.sequence);
  EXPECT_FALSE(spec.parallel.distributed_optimizer);
  EXPECT_FALSE(spec.training.fp8);
  EXPECT_FALSE(spec.training.stochastic_rounding);
  EXPECT_EQ(spec.training.recompute, Recompute::none);
  EXPECT_EQ(spec.training.recompute_layers, 0);
  EXPECT_FALSE(spec.training.unpadded);
  EXPECT_FALSE(spec.training.timed_products);
  EXPECT_TRUE(spec.training.phases.empty());
  EXPECT_EQ(spec.model.init, "");
  EXPECT_FALSE(spec.checkpoint.begin_anew);
  EXPECT_EQ(spec.checkpoint.best, "") << "it went on without";
  EXPECT_NE(to_json(spec), now);
}

TEST(Codec, CompressionIsWrittenWhereItIsAskedFor) {
  json file = golden("launch.json")["spec"];
  const JobSpec without = job_spec_from_json(file);
  EXPECT_FALSE(without.training.quantise);
  EXPECT_EQ(without.training.sparse, Sparsity::none);
  file["training"]["quantise"] = {{"format", "fp8"}, {"range_decay", 0.9}, {"ranges", "models/int8"}};
  file["training"]["sparse"] = "2:4";
  const JobSpec with = job_spec_from_json(file);
  EXPECT_EQ(with.training.quantise, (QuantiseSpec{QuantiseFormat::fp8, 0.9, "models/int8"}));
  EXPECT_EQ(with.training.sparse, Sparsity::two_of_four);
  EXPECT_EQ(to_json(with), file);
  file["training"]["quantise"] = json::object();
  EXPECT_EQ(job_spec_from_json(file).training.quantise, QuantiseSpec{});
  file["training"]["sparse"] = "1:2";
  EXPECT_THROW(job_spec_from_json(file), std::invalid_argument);
}

TEST(Codec, DistillationIsWrittenWhereItIsAskedFor) {
  json file = golden("launch.json")["spec"];
  EXPECT_FALSE(job_spec_from_json(file).training.distill);
  file["training"]["distill"] = {{"teacher", "init"}, {"weight", 0.75}, {"temperature", 2.5}};
  const JobSpec with = job_spec_from_json(file);
  EXPECT_EQ(with.training.distill, (DistillSpec{Teacher::init, 0.75, 2.5}));
  EXPECT_EQ(to_json(with), file);
  file["training"]["distill"] = json::object();
  EXPECT_EQ(job_spec_from_json(file).training.distill, (DistillSpec{Teacher::init, 0.5, 1.0}));
  file["training"]["distill"] = {{"teacher", "job"}};
  EXPECT_THROW(job_spec_from_json(file), std::invalid_argument);
}

TEST(Codec, NodeReportMatchesItsGoldenFile) {
  const json file = golden("node-report.json");
  EXPECT_EQ(to_json(node_report_from_json(file)), file);
}

TEST(Codec, ADeviceThatMeasuresLittleReportsThatAlone) {
  json file = golden("node-report.json");
  file["readings"] = {{{"device", 1}, {"temperature", 61.0}}};
  EXPECT_EQ(to_json(node_report_from_json(file)), file);
  file.erase("readings");
  file.erase("ended");
  file.erase("package_joules");
  file.erase("staging");
  for (const char* key : {"numa", "paths"}) file["node"]["devices"][1].erase(key);
  EXPECT_EQ(to_json(node_report_from_json(file)), file) << "agents from before readings report as they did";
}

TEST(Codec, AReportOfAnAgentThatTellsOfNoEndedAttemptsIsRead) {
  json file = golden("node-report.json");
  file.erase("ended");
  EXPECT_TRUE(node_report_from_json(file).ended.empty());
}

TEST(Codec, AnExitBelongsToAnExitedTask) {
  json file = golden("node-report.json");
  file["tasks"][0]["state"] = "exited";
  EXPECT_THROW(node_report_from_json(file), std::invalid_argument);
}

TEST(Codec, NodeOrdersMatchTheirGoldenFile) {
  const json file = golden("node-orders.json");
  EXPECT_EQ(to_json(node_orders_from_json(file)), file);
}

TEST(Codec, WorkerEventsMatchTheirGoldenFile) {
  const std::string lines = read_file(test::source_path("tests/golden/events.jsonl"));
  int count = 0;
  for (std::size_t at = 0; at < lines.size(); ++count) {
    const std::size_t end = lines.find('\n', at);
    const json line = json::parse(lines.substr(at, end - at));
    EXPECT_EQ(to_json(worker_event_from_json(line)), line);
    at = end + 1;
  }
  EXPECT_EQ(count, 12);
}

TEST(Codec, AnIdentityOfATextIsTwoCountsAndAHash) {
  const TextIdentity text{345, 12, "0123456789abcdef"};
  EXPECT_EQ(text_identity_from_json(to_json(text)), text);
  EXPECT_EQ(text_identity_from_json({{"tokens", 0}, {"sentences", 0}, {"xxh3", ""}}), TextIdentity{});
  EXPECT_EQ(describe(text), "345 tokens in 12 sentences (XXH3 0123456789abcdef)");
  EXPECT_EQ(describe({345, 0, "0123456789abcdef"}), "345 tokens (XXH3 0123456789abcdef)");
  for (const char* xxh3 : {"0123456789abcde", "0123456789abcdef0", "0123456789abcdeF", "0123456789abcd/f"})
    EXPECT_THROW(text_identity_from_json({{"tokens", 1}, {"sentences", 1}, {"xxh3", xxh3}}),
                 std::invalid_argument);
  EXPECT_THROW(text_identity_from_json({{"tokens", -1}, {"sentences", 1}, {"xxh3", text.xxh3}}),
               std::invalid_argument);
  EXPECT_THROW(text_identity_from_json({{"tokens", 1}, {"sentences", -1}, {"xxh3", text.xxh3}}),
               std::invalid_argument);
}

TEST(Codec, EveryCauseOfAnExitSurvivesTheWire) {
  for (int cause = 0; cause < static_cast<int>(std::size(kExitCauseNames)); ++cause) {
    const TaskExit exit{3, 0, "words", static_cast<ExitCause>(cause), from_millis(1'700'000'000'123)};
    EXPECT_EQ(task_exit_from_json(to_json(exit)), exit) << to_string(exit.cause);
  }
  EXPECT_THROW(task_exit_from_json({{"code", 0}, {"signal", 0}, {"cause", "boredom"}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace podium
