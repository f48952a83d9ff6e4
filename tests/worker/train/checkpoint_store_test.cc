// Saving and loading as the trainer does it: behind its back, whole or absent, past every kind of damage.
#include "worker/train/checkpoint_store.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/temp_folder.h"
#include "tests/worker/comm/processes.h"
#include "tests/worker/train/rank_tensors.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/single_communicator.h"
#include "worker/train/checkpoint_reader.h"
#include "worker/train/failure.h"
#include "worker/train/safetensors.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TestLayout kAlone{};

CheckpointState state_at(std::int64_t step) {
  CheckpointState state;
  state.step = step;
  state.phase = 1;
  state.samples = 64 * step;
  state.fingerprint = "run";
  state.loss_scaler = {4096, 17, 3};
  state.spec.name = "job";
  return state;
}

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() { trained_.fill(); }

  void save(std::int64_t step, bool target_reached = false) {
    CheckpointState state = state_at(step);
    state.target_reached = target_reached;
    store().begin_save(state, trained_.tensors());
    ASSERT_THAT(store().finish(), testing::SizeIs(1));
  }
  CheckpointStore& store() {
    if (!store_) store_.emplace(path_, 3, world_, kAlone.layout);
    return *store_;
  }

  // Loads into a fresh model as a later run does; the step that was found, 0 for none.
  std::int64_t load() {
    store_.reset();
    RankTensors fresh(kAlone, 0);
    problems_.clear();
    CheckpointStore later(path_, 3, world_, kAlone.layout);
    loaded_ = later.load_newest("run", fresh.tensors(), problems_);
    if (!loaded_) return 0;
    EXPECT_EQ(fresh.wrong_values(), 0);
    return loaded_->step;
  }
  // What loading says against going on at all.
  std::string failure_to_load(const std::string& fingerprint) {
    RankTensors fresh(kAlone, 0);
    try {
      store().load_newest(fingerprint, fresh.tensors(), problems_);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
      return failure.what();
    }
    return "";
  }

  fs::path file(const std::string& checkpoint, const std::string& name) const {
    return path_ / checkpoint / name;
  }

  TempFolder folder_;
  fs::path path_ = folder_.path() / "checkpoints";
  SingleCommunicator world_;
  RankTensors trained_{kAlone, 0};
  std::optional<CheckpointStore> store_;
  std::optional<CheckpointState> loaded_;
  std::vector<std::string> problems_;
};

TEST_F(Checkpoint, WhatIsSavedIsLoadedToTheBit) {
  EXPECT_EQ(load(), 0);
  save(200, true);
  EXPECT_EQ(load(), 200);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(loaded_->phase, 1);
  EXPECT_EQ(loaded_->samples, 12'800);
  EXPECT_EQ(loaded_->loss_scaler, (LossScalerState{4096, 17, 3}));
  EXPECT_EQ(loaded_->layout.world(), 1);
  EXPECT_EQ(loaded_->spec.name, "job");
  EXPECT_TRUE(loaded_->target_reached);
}

TEST_F(Checkpoint, AFinishedSaveIsToldOnce) {
  EXPECT_THAT(store().poll(), IsEmpty());
  store().begin_save(state_at(100), trained_.tensors());
  store().before_update();
  const std::vector<FinishedSave> finished = store().finish();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].step, 100);
  EXPECT_EQ(finished[0].name, "step-00000100");
  EXPECT_EQ(static_cast<std::uintmax_t>(finished[0].bytes),
            fs::file_size(file("step-00000100", part_name(0))));
  EXPECT_GT(finished[0].seconds, 0);
  EXPECT_THAT(store().poll(), IsEmpty());
  EXPECT_THAT(store().finish(), IsEmpty());
}

// Training changes the tensors as soon as it may, again and again, while saves are under way.
TEST_F(Checkpoint, TensorsMayChangeAfterBeforeUpdate) {
  for (int step = 1; step <= 20; ++step) {
    trained_.fill(static_cast<float>(step));
    store().begin_save(state_at(step), trained_.tensors());
    store().before_update();
  }
  trained_.fill(1000);
  store().finish();
  for (const std::int64_t step : {18, 19, 20}) {
    const fs::path checkpoint = path_ / checkpoint_name(step);
    RankTensors loaded(kAlone, 0);
    read_tensors(checkpoint, read_manifest(checkpoint), loaded.tensors());
    EXPECT_EQ(loaded.wrong_values(static_cast<float>(step)), 0) << step;
  }
}

TEST_F(Checkpoint, OtherReadersFindTheTensorsByName) {
  save(200);
  const SafetensorsFile part(file("step-00000200", part_name(0)));
  EXPECT_EQ(part.at("weights/embeddings").shape, (std::vector<std::int64_t>{48, 6}));
  EXPECT_EQ(part.read_floats("weights/head.weight").size(), 15u);
  EXPECT_EQ(part.at("second_moment/layer.3.contract.weight").shape, (std::vector<std::int64_t>{9, 40}));
}

TEST_F(Checkpoint, TheManifestIsTheFormats) {
  save(200);
  const auto manifest = nlohmann::json::parse(read_file(file("step-00000200", "manifest.json")));
  EXPECT_EQ(manifest.at("version"), 2);
  EXPECT_EQ(manifest.at("step"), 200);
  EXPECT_EQ(manifest.at("phase"), 1);
  EXPECT_EQ(manifest.at("samples"), 12'800);
  EXPECT_EQ(manifest.at("fingerprint"), "run");
  EXPECT_EQ(manifest.at("layout"), (nlohmann::json{{"tensor", 1}, {"pipeline", 1}, {"data", 1}}));
  EXPECT_EQ(manifest.at("loss_scaler"),
            (nlohmann::json{{"scale", 4096.0}, {"clean_steps", 17}, {"skipped", 3}}));
  EXPECT_EQ(manifest.at("target_reached"), false);
  EXPECT_EQ(manifest.at("spec"), to_json(state_at(200).spec));
  const auto& part = manifest.at("files").at("rank-00000.safetensors");
  EXPECT_EQ(part.at("xxh3"), digest_of(file("step-00000200", "rank-00000.safetensors")).xxh3);
  EXPECT_EQ(part.at("pieces").at(0), (nlohmann::json{{"parameter", "embeddings"}, {"shape", {48, 6}}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_ / "step-00000200"), fs::directory_iterator()), 2);
}

TEST_F(Checkpoint, OnlyTheNewestStay) {
  for (const std::int64_t step : {100, 200, 300, 400, 500}) save(step);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000500", "step-00000400", "step-00000300"));
}

TEST_F(Checkpoint, StepsOfMoreThanEightDigitsStayInOrder) {
  save(99'999'999);
  save(100'000'000);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-100000000", "step-99999999"));
  EXPECT_EQ(load(), 100'000'000);
}

class BrokenCheckpoint : public Checkpoint, public testing::WithParamInterface<const char*> {};

// Every way in which one file of the newest checkpoint can be wrong.
TEST_P(BrokenCheckpoint, IsPassedOverForTheNewestWholeOne) {
  save(100);
  const auto flip = [](const fs::path& path, std::size_t at) {
    std::string bytes = read_file(path);
    bytes[at % bytes.size()] = static_cast<char>(bytes[at % bytes.size()] ^ 4);
    write_file_atomic(path, bytes);
  };
  const auto breakages = std::vector<std::function<void(const fs::path&)>>{
      [](const fs::path& path) { fs::remove(path); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); },
      [](const fs::path& path) { fs::resize_file(path, 0); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); },
      [&](const fs::path& path) { flip(path, 3); },
      [&](const fs::path& path) { flip(path, fs::file_size(path) / 2); },
      [&](const fs::path& path) { flip(path, fs::file_size(path) - 1); },
      [](const fs::path& path) {
        fs::remove(path);
        fs::create_directory(path);
      },
  };
  for (const auto& breakage : breakages) {
    save(200);
    breakage(file("step-00000200", GetParam()));
    EXPECT_EQ(load(), 100);
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("step-00000200")));
  }
  save(200);
  EXPECT_EQ(load(), 200) << "a broken checkpoint can be written again";
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenCheckpoint, testing::Values("rank-00000.safetensors", "manifest.json"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find_first_of("-."));
                         });

TEST(CheckpointManifest, NoFlippedBitGoesUnnoticed) {
  const std::string good = manifest_text({state_at(200), {{part_name(0), {{12, "0123456789abcdef"}, {}}}}});
  EXPECT_NO_THROW(parse_manifest(good));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_ANY_THROW(parse_manifest(bad)) << "bit " << bit;
  }
}

TEST_F(Checkpoint, WhenAllAreBrokenTrainingBeginsAnew) {
  save(100);
  fs::remove(file("step-00000100", part_name(0)));
  EXPECT_EQ(load(), 0);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr(part_name(0))));
}

TEST_F(Checkpoint, AnOlderFormatIsRefusedAndLeftAlone) {
  fs::create_directories(path_ / "step-00000100");
  write_file_atomic(file("step-00000100", "manifest.json"), R"({"version": 1, "step": 100, "files": {}})");
  EXPECT_THAT(failure_to_load("run"), HasSubstr("format 1"));
  EXPECT_TRUE(fs::exists(file("step-00000100", "manifest.json")));
}

TEST_F(Checkpoint, AnotherRunIsRefused) {
  save(100);
  EXPECT_EQ(failure_to_load("run"), "");
  EXPECT_THAT(failure_to_load("another run"), HasSubstr("step-00000100"));
}

TEST_F(Checkpoint, WhatDeadAttemptsLeftIsRemoved) {
  const fs::path half = path_ / ".saving-step-00000300-0123456789abcdef";
  fs::create_directories(half);
  write_file_atomic(half / part_name(0), "half");
  write_file_atomic(half / record_name(0), "{}");
  EXPECT_EQ(load(), 0);
  EXPECT_FALSE(fs::exists(half));
}

// A second process that opens the folder while a run saves there leaves its half-written save alone.
TEST_F(Checkpoint, ASaveUnderWayIsLeftAlone) {
  store();
  const fs::path half = path_ / ".saving-step-00000300-0123456789abcdef";
  fs::create_directories(half);
  Processes other(1, [&](int) {
    SingleCommunicator alone;
    const CheckpointStore second(path_, 3, alone, kAlone.layout);
    return fs::exists(half) ? 7 : 8;
  });
  EXPECT_EQ(other.wait(0), 7);
  EXPECT_TRUE(fs::exists(half));
}

TEST_F(Checkpoint, AnAbandonedSaveIsNoCheckpoint) {
  for (int i = 0; i < 10; ++i) {
    store().begin_save(state_at(100 + i), trained_.tensors());
    store_.reset();
    for (const std::string& name : checkpoints_in(path_))  // it may have been quicker
      EXPECT_NO_THROW(read_manifest(path_ / name));
  }
}

TEST_F(Checkpoint, AFolderThatCannotBeMadeIsNamed) {
  write_file_atomic(folder_.path() / "file", "");
  try {
    CheckpointStore(folder_.path() / "file" / "checkpoints", 3, world_, kAlone.layout);
    FAIL() << "made";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), HasSubstr((folder_.path() / "file").string()));
  }
}

// The limit on file sizes stands for a full disk: writing fails in the middle of a file, on another thread,
// and the next call says so.
TEST_F(Checkpoint, AFullDiskNamesTheFileAndKeepsTheOldCheckpoint) {
  save(100);
  store_.reset();
  Processes child(1, [&](int) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    SingleCommunicator alone;
    CheckpointStore limited(path_, 3, alone, kAlone.layout);
    limited.begin_save(state_at(200), trained_.tensors());
    for (int call = 0; call < 2; ++call) try {
        limited.finish();
        return 1;
      } catch (const Failure& failure) {
        if (failure.exit != WorkerExit::disk_full) return 2;
        if (std::string(failure.what()).find(part_name(0)) == std::string::npos) return 3;
      }
    return 7;
  });
  EXPECT_EQ(child.wait(0), 7);
  EXPECT_EQ(load(), 100);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000100"));
}

// Runs `body` as every rank of a layout, each a process.
template <class Body>
std::unique_ptr<Processes> start_ranks(const TestLayout& layout, const Body& body) {
  const int port = free_port();
  return std::make_unique<Processes>(layout.layout.world(), [=](int rank) {
    GlooOptions options;
    options.rank = rank;
    options.size = layout.layout.world();
    options.master_address = "127.0.0.1";
    options.master_port = port;
    options.secret = "secret";
    GlooCommunicator world(options);
    return body(world);
  });
}

TEST(CheckpointRanks, SaveTogetherAndLoadOnAnotherLayout) {
  const TempFolder folder;
  const TestLayout four{{2, 1, 2}, true}, two{{1, 2, 1}};
  const auto saving = start_ranks(four, [&](Communicator& world) {
    CheckpointStore store(folder.path(), 3, world, four.layout);
    RankTensors trained(four, world.rank());
    std::size_t told = 0;
    for (const int step : {100, 200}) {
      trained.fill(static_cast<float>(step));
      store.begin_save(state_at(step), trained.tensors());
      store.before_update();
      told += store.poll().size();
    }
    trained.fill(1000);
    told += store.finish().size();
    return told == (world.rank() == 0 ? 2u : 0u) ? 7 : 1;
  });
  EXPECT_THAT(saving->wait_all(), testing::Each(7));

  std::string bytes = read_file(folder.path() / "step-00000200" / part_name(3));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto load = [&](Communicator& world, std::int64_t step, std::size_t problems) {
    CheckpointStore store(folder.path(), 3, world, two.layout);
    RankTensors fresh(two, world.rank());
    std::vector<std::string> said;
    const auto state = store.load_newest("run", fresh.tensors(), said);
    if (!state || state->step != step || fresh.wrong_values(static_cast<float>(step)) != 0) return 1;
    if (state->layout.data != 2 || state->layout.tensor != 2) return 2;
    if (said.size() != problems) return 3;
    return problems == 0 || said[0].find(part_name(3)) != std::string::npos ? 7 : 4;
  };
  EXPECT_THAT(start_ranks(two, [&](Communicator& world) { return load(world, 200, 0); })->wait_all(),
              testing::Each(7));
  write_file_atomic(folder.path() / "step-00000200" / part_name(3), bytes);
  EXPECT_THAT(start_ranks(two, [&](Communicator& world) { return load(world, 100, 1); })->wait_all(),
              testing::Each(7))
      << "one rank finds the damage, all pass the checkpoint over";
}

// The first rank must not wait for ever for the part of one that is gone.
TEST(CheckpointRanks, ADeadRankEndsTheSaveOfTheOthers) {
  const TempFolder folder;
  const TestLayout two{{1, 1, 2}};
  const auto ranks = start_ranks(two, [&](Communicator& world) {
    CheckpointStore store(folder.path(), 3, world, two.layout);
    RankTensors trained(two, world.rank());
    if (world.rank() == 1) ::raise(SIGKILL);
    store.begin_save(state_at(100), trained.tensors());
    try {
      store.finish();
    } catch (const PeerLost&) {
      return 7;
    }
    return 1;
  });
  EXPECT_THAT(ranks->wait_all(), ElementsAre(7, -SIGKILL));
  EXPECT_THAT(checkpoints_in(folder.path()), IsEmpty());
}

}  // namespace
}  // namespace podium
