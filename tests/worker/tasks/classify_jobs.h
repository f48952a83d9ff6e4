// Tiny jobs of classification and regression, with the tables that they read.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/worker/train/worker_job.h"

namespace podium {

inline constexpr std::int64_t kSteps = 200;

// The class is the name of the one word that tells, among others that do not.
inline std::string labelled(int sentences, int seed) {
  const char* const kinds[] = {"red", "green", "blue"};
  std::string text = "sentence\tlabel\n";
  for (int i = 0; i < sentences; ++i) {
    const std::string kind = kinds[(i * 7 + seed) % 3];
    text += std::string(i % 2 == 0 ? "the road is " : "a ship was ") + kind + (i % 5 == 0 ? " here" : "") +
            "\t" + kind + "\n";
  }
  return text;
}

inline JobSpec colours() {
  JobSpec spec = tiny_job(kSteps);
  spec.training.task = TrainingTask::classify;
  spec.data = {{"train.tsv"}, {"colours.txt", true, "", ""}};
  spec.training.classify.dropout = 0.1;
  spec.training.optimizer.lr = 5e-3;
  spec.training.seed = 2;  // with some seeds two of the colours stay one
  spec.training.sequence_length = 16;
  spec.model.layers = 2;
  spec.evaluate = {20, "held-out.tsv", 64};
  return spec;
}

inline void write_colours(const WorkerJob& job) {
  write_file_atomic(job.data() / "train.tsv", labelled(120, 0));
  write_file_atomic(job.data() / "held-out.tsv", labelled(50, 1));
  write_file_atomic(
      job.data() / "colours.txt",
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\nroad\nship\nis\nwas\nhere\nred\ngreen\nblue\n");
}

// How many colours are in the one sentence and in the other: a value to predict, of pairs.
inline std::string counted(int pairs, unsigned seed) {
  std::mt19937 random(seed);
  const char* const words[] = {"red", "the", "green", "road", "blue", "ship"};  // every other one is a colour
  std::string text = "id,score,first,second\r\n";
  for (int i = 0; i < pairs; ++i) {
    int colours = 0;
    std::string sentences[2];
    for (int word = 0; word < 5; ++word) {
      const unsigned which = random() % 6;
      colours += which % 2 == 0;
      sentences[word % 2] += std::string(words[which]) + (word % 3 == 0 ? "\n" : " ");
    }
    text += std::to_string(i) + "," + std::to_string(colours - 2.5) + ",\"" + sentences[0] + "\",\"" +
            sentences[1] + "\"\r\n";
  }
  return text;
}

inline JobSpec colour_counts(std::int64_t steps) {
  JobSpec spec = colours();
  spec.training.schedule.steps = steps;
  spec.training.classify = {.sentence = {"first"},
                            .pair = ColumnSpec{"second"},
                            .label = {"score"},
                            .regression = true,
                            .dropout = 0.1};
  spec.data.train = {"train.csv"};
  spec.evaluate.data = "held-out.csv";
  return spec;
}

inline void write_counts(const WorkerJob& job) {
  write_colours(job);
  write_file_atomic(job.data() / "train.csv", counted(200, 0));
  write_file_atomic(job.data() / "held-out.csv", counted(60, 5));
}

// Leaves what it prints in the job's data folder, as "log".
inline int run_worker(const WorkerJob& job, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), test::program_path("podium-worker"));
  std::filesystem::remove(job.data() / "log");  // which a child appends to
  Child child(arguments, job.data() / "log");
  return exit_of(child);
}

}  // namespace podium
