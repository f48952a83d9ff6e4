// Products that are chosen by made-up times: what a run chooses, keeps in its checkpoints and goes on with.
// The second of the library's three algorithms has sums with other bits (tests/cuda_shim/products.h).
#include "worker/train/product_timing.h"

#include <gmock/gmock.h>

#include <sstream>

#include "common/base/file.h"
#include "tests/cuda_shim/products.h"
#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/device/trainee.h"
#include "tests/worker/train/made_up_task.h"
#include "worker/checkpoint/reader.h"
#include "worker/comm/staged_communicator.h"
#include "worker/train/trainer.h"

namespace podium::test {
namespace {

using nlohmann::json;
using ops::cuda::Product;
using ops::cuda::ProductEnd;
using testing::Contains;
using testing::HasSubstr;

constexpr int kLength = 24;

shim::MadeUpProducts::Milliseconds fastest_is(int best) {
  return [best](const Product&, int algorithm) { return algorithm == best ? 1.0 : 2.0; };
}

// As a record has it: 64 bytes, of which the loops use the first 8.
json algorithm(int number) { return "000000000000000" + std::to_string(number) + std::string(112, '0'); }

class TimedProducts : public OnDevice {
 protected:
  TimedProducts() {
    spec_.model = small_spec(ModelFamily::gpt, 0.1);
    spec_.training.precision = Precision::bf16;
    spec_.training.optimizer.lr = 1e-2;
    spec_.training.schedule = {.steps = 3};
    spec_.training.batch = {4, 2};
    spec_.training.sequence_length = kLength;
    spec_.training.timed_products = true;
    spec_.checkpoint = {1, 100};
  }

  // As a process would from its begin; it is asked to stop after so many batches. Tells the weights.
  std::vector<float> run(const std::string& folder, std::size_t batches = 100) {
    Script script;
    script.stop_before = batches;
    LoneModel lone(spec_.model, {.precision = spec_.training.precision}, device_context());
    const SystemClock clock;
    std::filesystem::create_directories(folder_.path() / folder);
    EventLog events(folder_.path() / folder / "events.jsonl", clock);
    const TaskSource source{
        spec_.model.vocab, {1, 0, "0123456789abcdef"}, {}, [&](const TrainingSpec& phase) {
          return std::make_unique<MadeUpTask>(spec_.model, phase, script);
        }};
    Trainer trainer(spec_, {folder_.path() / folder / "checkpoints", true},
                    {lone.context, lone.world, lone.groups, *lone.model, source, events, script.stop,
                     [](ParameterStore&) { return FirstWeights(); }});
    trainer.run();
    ParameterStore& parameters = lone.model->parameters();
    return parameters.memory().downloaded<float>(parameters.weights());
  }
  json record(const std::string& folder, std::int64_t step) const {
    return read_whole_checkpoint(folder_.path() / folder / "checkpoints" / checkpoint_name(step))
        .state.products;
  }
  std::vector<std::string> notes(const std::string& folder) const {
    std::vector<std::string> found;
    std::istringstream lines(read_file(folder_.path() / folder / "events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const WorkerEvent event = worker_event_from_json(json::parse(line));
      if (const auto* note = std::get_if<NoteEvent>(&event.body))
        found.push_back(note->level + ": " + note->message);
    }
    return found;
  }

  JobSpec spec_;
  TempFolder folder_;
};

TEST_F(TimedProducts, AreTheFastestAndInEveryCheckpoint) {
  std::vector<float> timed;
  {
    const shim::MadeUpProducts made_up(fastest_is(1));
    timed = run("timed");
  }
  const json kept = record("timed", 1);
  EXPECT_EQ(kept.at("library"), "loops 1");
  EXPECT_EQ(kept.at("timed"), json({"phase 1, 2 x 24 tokens, tensor 1 x pipeline 1"}));
  EXPECT_GT(kept.at("choices").size(), 10U);
  for (const json& choice : kept.at("choices")) {
    EXPECT_EQ(choice.at("algorithm"), algorithm(1)) << choice.dump();
    EXPECT_EQ(choice.at("ms"), 1.0) << choice.dump();
    EXPECT_EQ(choice.at("first_ms"), 2.0) << choice.dump();
  }
  EXPECT_EQ(record("timed", 3), kept);
  EXPECT_THAT(notes("timed"), Contains(HasSubstr("timed the products of phase 1")));
  spec_.training.timed_products = false;
  EXPECT_NE(run("first"), timed);
  EXPECT_TRUE(record("first", 3).is_null());
}

// The rehearsal leaves nothing behind: gradients, losses or steps.
TEST_F(TimedProducts, ThatAreTheFirstOnesTrainAsWithoutTiming) {
  std::vector<float> timed;
  {
    const shim::MadeUpProducts made_up(fastest_is(0));
    timed = run("timed");
  }
  spec_.training.timed_products = false;
  EXPECT_EQ(run("first"), timed);
}

TEST_F(TimedProducts, GoOnToTheBitWhateverIsFasterThen) {
  std::vector<float> whole;
  {
    const shim::MadeUpProducts made_up(fastest_is(1));
    whole = run("whole");
    run("cut", 1);
  }
  const json kept = record("cut", 1);
  const shim::MadeUpProducts made_up(fastest_is(0));
  EXPECT_EQ(run("cut"), whole);
  EXPECT_EQ(record("cut", 3), kept);
  EXPECT_THAT(notes("cut"), Contains(HasSubstr("products are computed as the checkpoint says")));
}

TEST_F(TimedProducts, AreChosenAnewByAnotherLibrary) {
  {
    const shim::MadeUpProducts made_up(fastest_is(1));
    run("job", 1);
  }
  const shim::MadeUpProducts made_up(fastest_is(2), "loops 2");
  run("job");
  const json kept = record("job", 3);
  EXPECT_EQ(kept.at("library"), "loops 2");
  for (const json& choice : kept.at("choices"))
    EXPECT_EQ(choice.at("algorithm"), algorithm(2)) << choice.dump();
  EXPECT_THAT(notes("job"),
              Contains(testing::AllOf(HasSubstr("warning: the checkpoint's products were chosen for"),
                                      HasSubstr("and loops 1, and this is"), HasSubstr("and loops 2"))));
}

TEST_F(TimedProducts, AreForgottenByARunThatDoesNotTime) {
  {
    const shim::MadeUpProducts made_up(fastest_is(1));
    run("job", 1);
  }
  spec_.training.timed_products = false;
  run("job");
  EXPECT_TRUE(record("job", 3).is_null());
  EXPECT_THAT(notes("job"), Contains(HasSubstr("goes on to rounding, not to the bit")));
}

// GELU in the product against a product and a kernel, which takes no time here.
TEST_F(TimedProducts, EndInAGeluOnlyWhereThatIsFaster) {
  const shim::MadeUpProducts made_up([](const Product& product, int) {
    if (product.end == ProductEnd::gelu_forward) return 3.0;
    return product.end == ProductEnd::gelu_backward ? 1.0 : 2.0;
  });
  run("job");
  std::map<std::string, json> ended;
  const json kept = record("job", 3);
  for (const json& choice : kept.at("choices")) {
    const json& product = choice.at("product");
    if (product.at("end") == "plain") continue;
    ended[product.at("end").get<std::string>()] = choice;
  }
  EXPECT_TRUE(ended.at("gelu").at("algorithm").is_null());
  EXPECT_EQ(ended.at("gelu").at("ms"), 2.0);
  EXPECT_EQ(ended.at("gelu").at("first_ms"), 3.0);
  EXPECT_EQ(ended.at("gelu'").at("algorithm"), algorithm(0));
}

TEST_F(TimedProducts, OfARecordThatCannotBeReadAreChosenAnew) {
  Trainee trainee(ModelFamily::bert, Precision::bf16, OptimizerKind::adamw, device_context());
  SingleCommunicator world;
  ProductTiming timing(trainee.lone().context, world, {}, true);
  const shim::MadeUpProducts made_up(fastest_is(1));
  timing.choose("a", [&] { trainee.step(); });
  const json whole = timing.record();
  ASSERT_FALSE(whole.at("choices").empty());
  const auto broken = [&](const char* pointer, const json& value) {
    json record = whole;
    record[json::json_pointer(pointer)] = value;
    return record;
  };
  for (const json& record :
       {json(7), json::object(), broken("/timed", 1), broken("/choices", "none"),
        broken("/choices/0", json::object()), broken("/choices/0/product/column_sums", false),
        broken("/choices/0/algorithm", "1"), broken("/choices/0/algorithm", std::string(128, 'g')),
        broken("/choices/0/product/type", "f64"), broken("/choices/0/product/m", "many")}) {
    SCOPED_TRACE(record.dump().substr(0, 300));
    const std::vector<ProductNote> notes = timing.take_over(record);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].level, "warning");
    EXPECT_THAT(notes[0].message, HasSubstr("cannot be read"));
    EXPECT_TRUE(timing.record().is_null());
    EXPECT_TRUE(timing.wants("a"));
  }
  EXPECT_EQ(timing.take_over(whole).at(0).level, "info");
  EXPECT_FALSE(timing.wants("a"));
  EXPECT_TRUE(timing.wants("b"));
}

// Each algorithm starts once to warm up and five times by the made-up clock, 10.8 s a product: the second
// begins before 20 s are over, and the third after.
TEST_F(TimedProducts, AreTimedForTwentySecondsAndTakeTheFirstAlgorithmFromThenOn) {
  Trainee trainee(ModelFamily::bert, Precision::bf16, OptimizerKind::adamw, device_context());
  SingleCommunicator world;
  ProductTiming timing(trainee.lone().context, world, {}, true);
  const shim::MadeUpProducts made_up(
      [](const Product&, int algorithm) { return algorithm == 1 ? 400.0 : 700.0; });
  timing.choose("a", [&] { trainee.step(); });
  std::size_t timed = 0;
  const json record = timing.record();
  for (const json& choice : record.at("choices")) {
    const bool chosen_by_time = choice.at("algorithm") == algorithm(1);
    timed += chosen_by_time;
    EXPECT_TRUE(chosen_by_time || choice.at("algorithm") == algorithm(0)) << choice.dump();
  }
  EXPECT_EQ(timed, 2U);
  EXPECT_GT(record.at("choices").size(), 2U);
}

TEST_F(TimedProducts, AreNotTimedOnTheCpu) {
  Context context = cpu_context();
  SingleCommunicator world;
  ProductTiming timing(context, world, {}, true);
  EXPECT_TRUE(timing.take_over(nullptr).empty());
  EXPECT_FALSE(timing.wants("a"));
}

// Each rank measures times of its own.
TEST_F(TimedProducts, AreTheSameOnAllRanks) {
  static thread_local int fastest = 0;
  const shim::MadeUpProducts made_up(
      [](const Product&, int algorithm) { return algorithm == fastest ? 1.0 : 2.0; });
  std::vector<json> records(2);
  const int port = free_port();
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      fastest = 2 - rank;
      const JobDevice device = open_device_under_test();
      Context context;
      device.lend_to(context);
      Trainee trainee(ModelFamily::bert, Precision::bf16, OptimizerKind::adamw, std::move(context));
      Context& of_trainee = trainee.lone().context;
      StagedCommunicator world(std::make_unique<GlooCommunicator>(world_options(rank, 2, port)),
                               of_trainee.memory);
      ProductTiming timing(of_trainee, world, {.data = 2}, true);
      EXPECT_TRUE(timing.take_over(nullptr).empty());
      timing.choose("a", [&] { trainee.step(); });
      records[static_cast<std::size_t>(rank)] = timing.record();
      world.barrier();
    });
  ranks.clear();
  EXPECT_EQ(records[0], records[1]);
  for (const json& choice : records[0].at("choices"))
    EXPECT_EQ(choice.at("algorithm"), algorithm(2)) << choice.dump();
}

}  // namespace
}  // namespace podium::test
