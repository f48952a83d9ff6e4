// bench_checkpoint FOLDER: what saving costs the training of a BERT-base. Prints one JSON line a round: some
// steps without a save, then a save and the steps until it is whole on disk, then the same number of bytes
// written to the same folder with nothing beside it.
#include <fcntl.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/training/trainee.h"
#include "common/base/file.h"
#include "worker/checkpoint/store.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options : TraineeOptions {
  fs::path folder;
  int rounds = 5;
  int steps = 3;  // without a save, in each round
};

template <class Body>
double seconds_of(const Body& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What one round measured, in seconds.
struct Round {
  std::vector<double> plain_steps;
  std::vector<double> saving_steps;   // each with a save under way when it began
  std::vector<double> plain_updates;  // of the same steps, the optimizer's part
  std::vector<double> saving_updates;
  double begin = 0;  // the training thread in begin_save
  FinishedSave saved;
  double plain_write = 0;
};

nlohmann::ordered_json line_of(const Round& round) {
  return {{"plain_steps", round.plain_steps},
          {"saving_steps", round.saving_steps},
          {"plain_updates", round.plain_updates},
          {"saving_updates", round.saving_updates},
          {"begin", round.begin},
          {"bytes", round.saved.bytes},
          {"seconds", round.saved.seconds},
          {"plain_write", round.plain_write}};
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        trainee_(options),
        store_({options.folder / "checkpoints", true}, 1, trainee_.world(), {}) {
    for (int i = 0; i < 3; ++i) trainee_.step();  // compiles the products and grows the arenas
  }

  Round round() {
    Round round;
    for (int i = 0; i < options_.steps; ++i) {
      round.plain_steps.push_back(seconds_of([&] { trainee_.step(); }));
      round.plain_updates.push_back(trainee_.update_seconds());
    }
    round.begin = seconds_of([&] { begin_save(); });
    while (true) {
      const auto saved = store_.poll();
      if (!saved.empty()) {
        round.saved = saved.front();
        break;
      }
      round.saving_steps.push_back(
          seconds_of([&] { trainee_.step([&] { return store_.before_update(); }); }));
      round.saving_updates.push_back(trainee_.update_seconds());
    }
    round.plain_write = seconds_of([&] { write_plainly(round.saved.bytes); });
    return round;
  }

 private:
  void begin_save() {
    CheckpointState state;
    state.step = trainee_.steps();
    Optimizer& optimizer = trainee_.optimizer();
    store_.begin_save(state, {trainee_.parameters(), optimizer.states(), optimizer.shard()});
  }

  // As dd does: block after block into a new file, then fsync. Of the weights themselves, for a disk may make
  // little of zeros.
  void write_plainly(std::int64_t bytes) {
    const fs::path path = options_.folder / "plain";
    const auto weights = std::as_bytes(std::span(trainee_.parameters().weights()));
    const Fd file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    for (auto left = static_cast<std::size_t>(bytes); left > 0;) {
      const std::size_t count = std::min(left, weights.size());
      write_all(file.get(), {reinterpret_cast<const char*>(weights.data()), count}, path);
      left -= count;
    }
    if (::fsync(file.get()) != 0) throw std::system_error(errno, std::generic_category(), path.string());
    fs::remove(path);
  }

  Options options_;
  Trainee trainee_;
  CheckpointStore store_;
};

Options parse(int argc, char** argv) {
  Options options;
  options.batch = 8;
  options.model.layers = 12;
  options.model.hidden = 768;
  options.model.heads = 12;
  options.model.intermediate = 3072;
  options.model.vocab = 30528;
  options.model.max_positions = 512;
  const std::map<std::string, Precision> precisions = {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}};
  CLI::App app("What a checkpoint costs the training of BERT-base on this machine's CPU and disk.");
  app.add_option_function<std::string>(
         "--precision", [&](const std::string& word) { options.precision = precisions.at(word); })
      ->check(CLI::IsMember(precisions));
  app.add_option("--threads", options.threads);
  app.add_option("--batch", options.batch, "sequences; few make steps too short to write a save beside one");
  app.add_option("--rounds", options.rounds);
  app.add_option("--steps", options.steps, "without a save, in each round");
  app.add_option("folder", options.folder, "on the disk to be measured")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  const podium::Options options = podium::parse(argc, argv);
  omp_set_num_threads(options.threads);
  podium::Bench bench(options);
  for (int round = 0; round < options.rounds; ++round) {
    std::printf("%s\n", podium::line_of(bench.round()).dump().c_str());
    std::fflush(stdout);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_checkpoint: %s\n", error.what());
  return 1;
}
