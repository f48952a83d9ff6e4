// A run of the training loop over made-up batches, in one process, and what it left.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/train/made_up_task.h"
#include "worker/checkpoint/reader.h"
#include "worker/train/trainer.h"

namespace podium {

inline constexpr int kTrainedLength = 24;

class TrainerOf : public testing::Test {
 protected:
  TrainerOf() {
    spec_.model = test::small_spec(ModelFamily::bert, 0.1);
    spec_.training.optimizer.lr = 1e-2;
    spec_.training.schedule = {.steps = 5, .warmup = 2};
    spec_.training.batch = {4, 2};
    spec_.training.sequence_length = kTrainedLength;
    spec_.training.log_every = 1;
    spec_.checkpoint = {1, 100};
  }

  // As a process would, from its begin, with another job's checkpoints or none; returns the weights it ended
  // with.
  std::vector<float> run(Script& script, const std::filesystem::path& resume_folder = {}) {
    script.stop = false;
    test::LoneModel lone(spec_.model,
                         {.precision = spec_.training.precision, .quantise = spec_.training.quantise},
                         {.threads = 1});
    const SystemClock clock;
    EventLog events(events_path(), clock);
    const TaskSource source{
        spec_.model.vocab, {1, 0, "0123456789abcdef"}, {}, [&](const TrainingSpec& phase) {
          return std::make_unique<MadeUpTask>(spec_.model, phase, script);
        }};
    Trainer trainer(
        spec_, {checkpoints(), true},
        {lone.context, lone.world, lone.groups, *lone.model, source, events, script.stop,
         [](ParameterStore&) { return FirstWeights(); }, resume_folder, nullptr, best_, first_ranges_});
    trainer.run();
    const std::span<const float> weights = lone.model->parameters().weights();
    return {weights.begin(), weights.end()};
  }
  // In a folder of its own.
  std::vector<float> run_elsewhere(Script& script) {
    const std::string before = std::exchange(folder_name_, "elsewhere");
    std::vector<float> weights = run(script);
    folder_name_ = before;
    return weights;
  }

  std::filesystem::path checkpoints() const { return folder_.path() / folder_name_ / "checkpoints"; }
  std::filesystem::path events_path() const {
    std::filesystem::create_directories(folder_.path() / folder_name_);
    return folder_.path() / folder_name_ / "events.jsonl";
  }
  CheckpointState state_at(std::int64_t step) const {
    return read_whole_checkpoint(checkpoints() / checkpoint_name(step)).state;
  }
  template <class Event>
  std::vector<Event> told() const {
    std::vector<Event> found;
    std::istringstream lines(read_file(events_path()));
    for (std::string line; std::getline(lines, line);) {
      const WorkerEvent event = worker_event_from_json(nlohmann::json::parse(line));
      if (const auto* body = std::get_if<Event>(&event.body)) found.push_back(*body);
    }
    return found;
  }
  std::map<std::int64_t, double> metric(const std::string& name) const {
    std::map<std::int64_t, double> values;
    for (const MetricsEvent& event : told<MetricsEvent>())
      for (const auto& [key, value] : event.values)
        if (key == name && !values.emplace(event.step, value).second)
          ADD_FAILURE() << name << " is told twice at step " << event.step;
    return values;
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> found;
    for (const NoteEvent& note : told<NoteEvent>())
      if (note.level == "warning") found.push_back(note.message);
    return found;
  }

  // The steps of the checkpoints that are there.
  std::vector<std::int64_t> kept() const {
    std::vector<std::int64_t> steps;
    for (const std::string& name : checkpoints_in(checkpoints())) steps.push_back(step_of(name));
    return steps;
  }
  // Those that were told as the best so far, with their values.
  std::vector<std::pair<std::int64_t, double>> told_best() const {
    std::vector<std::pair<std::int64_t, double>> best;
    for (const CheckpointEvent& saved : told<CheckpointEvent>())
      if (saved.best && !saved.again) best.emplace_back(saved.step, saved.best->value);
    return best;
  }

  std::optional<BestRule> best_;
  std::function<std::vector<float>()> first_ranges_;
  JobSpec spec_;
  TempFolder folder_;
  std::string folder_name_ = "job";
};

}  // namespace podium
