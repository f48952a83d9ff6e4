#include "tests/faults/training_job.h"

#include <array>
#include <random>

#include "common/base/file.h"

namespace podium {
namespace {

constexpr std::array kWords{"river", "stone", "light", "water", "house", "field", "bread", "road",
                            "king",  "child", "night", "song",  "tree",  "voice", "hand",  "door"};

std::string sentences(std::mt19937& random, int count) {
  std::string text;
  for (int sentence = 0; sentence < count; ++sentence) {
    if (sentence % 8 == 7) text += '\n';
    std::size_t word = random() % kWords.size();
    for (int i = 0; i < 12; ++i) {
      word = (word + 1 + random() % 3) % kWords.size();
      text += std::string(i ? " " : "") + kWords[word];
    }
    text += " .\n";
  }
  return text;
}

}  // namespace

void write_training_data(const std::filesystem::path& folder) {
  std::mt19937 random(1);
  write_file_atomic(folder / "corpus.txt", sentences(random, 4000));
  write_file_atomic(folder / "heldout.txt", sentences(random, 200));
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
  for (const char* word : kWords) vocabulary += std::string(word) + "\n";
  write_file_atomic(folder / "vocab.txt", vocabulary);
}

std::string training_spec(const std::string& name, int steps) {
  return "version: 1\nname: " + name + R"(
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: )" +
         std::to_string(steps) + R"(, warmup: 10, decay: linear}
  batch: {global: 32, micro: 16}
  sequence_length: 32
  log_every: 1 step
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 10m}
checkpoint: {every: 20 steps, keep: 2}
evaluate: {every: 50 steps, data: heldout.txt, sequences: 64}
)";
}

}  // namespace podium
