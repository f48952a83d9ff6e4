// dump_batches LAUNCH STEPS OUT: the batches podium-worker trains on in the first steps of a job of one
// process: safetensors of [steps, sequences, length], a label standing where it is predicted and -100 where
// none is; next_sentence_label [steps, sequences] for BERT. They follow from the launch alone, so the
// training itself need not be watched.
#include <cstdio>
#include <exception>
#include <string>

#include "common/base/file.h"
#include "common/model/launch.h"
#include "worker/formats/safetensors.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/tasks.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

constexpr std::int32_t kIgnored = -100;

struct Batches {
  std::vector<std::int32_t> input_ids, attention_mask, token_types, labels, next_sentence;

  void add(const MicroBatch& batch) {
    input_ids.insert(input_ids.end(), batch.input_ids.begin(), batch.input_ids.end());
    token_types.insert(token_types.end(), batch.token_types.begin(), batch.token_types.end());
    token_types.resize(input_ids.size());
    next_sentence.insert(next_sentence.end(), batch.targets[kNextSentenceTerm].labels.begin(),
                         batch.targets[kNextSentenceTerm].labels.end());
    for (const std::int32_t valid : batch.valid_lengths)
      for (int t = 0; t < batch.length; ++t) attention_mask.push_back(t < valid ? 1 : 0);
    attention_mask.resize(input_ids.size(), 1);  // without lengths nothing is padding
    const std::size_t begin = labels.size();
    labels.resize(input_ids.size(), kIgnored);
    for (std::size_t i = 0; i < batch.targets[kLanguageTerm].labels.size(); ++i)
      labels[begin + static_cast<std::size_t>(batch.targets[kLanguageTerm].positions[i])] =
          batch.targets[kLanguageTerm].labels[i];
  }
};

void dump(const Launch& launch, std::int64_t steps, const std::filesystem::path& out) {
  const TrainingSpec training = training_phases(launch.spec.training).front().training;
  Reading reading;
  const TaskSource source = find_task(launch.spec).read(launch.spec, launch.data_folder, reading, 0, 1);
  const std::unique_ptr<Task> task = source.make(training);
  task->start(1);
  Batches all;
  for (std::int64_t step = 0; step < steps; ++step)
    for (const MicroBatch& batch : task->next().micro_batches) all.add(batch);
  const std::vector<std::int64_t> rows{steps, training.batch.global};
  const std::vector<std::int64_t> tokens{steps, training.batch.global, training.sequence_length};
  const auto entry = [](const char* name, const std::vector<std::int64_t>& shape,
                        const std::vector<std::int32_t>& values) {
    return TensorEntry{name, "I32", shape, std::as_bytes(std::span(values))};
  };
  std::vector<TensorEntry> entries{
      entry("input_ids", tokens, all.input_ids), entry("attention_mask", tokens, all.attention_mask),
      entry("token_type_ids", tokens, all.token_types), entry("labels", tokens, all.labels)};
  if (!all.next_sentence.empty()) entries.push_back(entry("next_sentence_label", rows, all.next_sentence));
  write_safetensors(out, std::move(entries), {});
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  if (argc != 4) throw std::invalid_argument("three arguments: LAUNCH STEPS OUT");
  const auto launch = podium::launch_from_json(nlohmann::json::parse(podium::read_file(argv[1])));
  podium::dump(launch, std::stoll(argv[2]), argv[3]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "dump_batches: %s\n", error.what());
  return 1;
}
