#include "tests/worker/train/worker_job.h"

#include <sys/wait.h>

#include <cctype>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "common/base/file.h"
#include "tests/faults/training_job.h"
#include "tests/paths.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/comm/socket.h"

namespace podium {
namespace {

// Of the words the text is made of.
const std::vector<std::string> kMerges{"Ġ s", "Ġ r", "o a", "oa d", "i n", "i g", "h t", "ig ht"};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

JobSpec tiny_job(std::int64_t steps) {
  JobSpec spec;
  spec.name = "tiny";
  spec.model.layers = 1;
  spec.model.hidden = 32;
  spec.model.heads = 2;
  spec.model.intermediate = 64;
  spec.model.max_positions = 32;
  spec.data = {{"corpus.txt"}, {"vocab.txt", true, "", ""}};
  spec.training.optimizer.lr = 1e-3;
  spec.training.schedule.steps = steps;
  spec.training.schedule.warmup = 5;
  spec.training.batch = {8, 2};
  spec.training.sequence_length = 32;
  spec.training.log_every = 1;
  spec.resources.kind = "cpu";
  spec.checkpoint = {5, 3};
  spec.evaluate = {10, "heldout.txt", 32};
  return spec;
}

JobSpec tiny_gpt_job(std::int64_t steps) {
  JobSpec spec = tiny_job(steps);
  spec.model.family = ModelFamily::gpt;
  spec.training.task = TrainingTask::lm;
  spec.data.tokenizer = {"", false, "vocab.json", "merges.txt"};
  return spec;
}

JobSpec tiny_llama_job(std::int64_t steps) {
  JobSpec spec = tiny_gpt_job(steps);
  spec.model.family = ModelFamily::llama;
  spec.model.heads = 4;
  spec.model.key_value_heads = 2;
  return spec;
}

JobLayout layout_of_name(const std::string& name) {
  JobLayout layout{name, 1, {}};
  std::istringstream words(name);
  for (std::string word; std::getline(words, word, '_');) {
    const int count = std::isdigit(word.back()) ? word.back() - '0' : 1;
    ParallelSpec& parallel = layout.parallel;
    if (word.starts_with("tensor")) parallel.tensor = count;
    if (word.starts_with("pipeline")) parallel.pipeline = count;
    if (word.starts_with("interleaved")) parallel.interleave = count;
    if (word == "sequence") parallel.sequence = true;
    if (word == "distributed") parallel.distributed_optimizer = true;
    if (!word.starts_with("interleaved")) layout.processes *= count;
  }
  return layout;
}

int exit_of(Child& child) {
  const int status = child.wait();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

WorkerJob::WorkerJob(JobSpec spec) {
  std::filesystem::create_directories(data());
  write_training_data(data());
  write_file_atomic(data() / "vocab.json", byte_ids(kMerges).dump());
  write_file_atomic(data() / "merges.txt", joined(kMerges));
  launch.spec = std::move(spec);
  launch.secret = "secret";
  launch.threads = 1;
  launch.data_folder = data();
  launch.checkpoint_folder = checkpoints();
}

void WorkerJob::start(int world_size, const std::string& prefix) {
  ranks_.clear();
  launch.world_size = launch.local_world_size = world_size;
  if (launch.master_port == 0 && world_size > 1)
    launch.master_port = port_of(listen_on(launch.master_address, 0));
  for (int rank = 0; rank < world_size; ++rank) {
    launch.task.rank = rank;
    launch.events_path = events_path(rank);
    const std::filesystem::path path = folder_.path() / ("launch-" + std::to_string(rank) + ".json");
    nlohmann::json told = to_json(launch);
    add_clock(clock, told);
    write_file_atomic(path, told.dump());
    const std::string command =
        prefix + " exec '" + test::program_path("podium-worker") + "' run '" + path.string() + "'";
    ranks_.push_back(std::make_unique<Child>(std::vector<std::string>{"/bin/sh", "-c", command},
                                             folder_.path() / ("log-" + std::to_string(rank))));
  }
  launch.master_port = 0;
}

void WorkerJob::start(const JobLayout& layout) {
  launch.spec.parallel = layout.parallel;
  start(layout.processes);
}

std::vector<int> WorkerJob::wait() {
  std::vector<int> codes;
  for (const auto& child : ranks_) codes.push_back(exit_of(*child));
  return codes;
}

bool WorkerJob::wait_for_step(std::int64_t step) {
  for (;;) {
    const bool running = rank(0).running();
    const auto losses = metric("train/loss");
    if (!losses.empty() && losses.rbegin()->first >= step) return true;
    if (!running) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string WorkerJob::output() const { return read_file(folder_.path() / "log-0"); }

std::filesystem::path WorkerJob::events_path(int rank) const {
  return folder_.path() / ("events-" + std::to_string(rank) + ".jsonl");
}

std::vector<WorkerEvent> WorkerJob::events(int rank) const {
  std::vector<WorkerEvent> events;
  if (!std::filesystem::exists(events_path(rank))) return events;
  std::istringstream lines(read_file(events_path(rank)));
  for (std::string line; std::getline(lines, line) && !lines.eof();)
    events.push_back(worker_event_from_json(nlohmann::json::parse(line)));
  return events;
}

std::map<std::int64_t, double> WorkerJob::metric(const std::string& key) const {
  std::map<std::int64_t, double> values;
  for (const WorkerEvent& event : events())
    if (const auto* metrics = std::get_if<MetricsEvent>(&event.body))
      for (const auto& [name, value] : metrics->values)
        if (name == key) values[metrics->step] = value;
  return values;
}

std::string WorkerJob::last_status(int rank) const {
  const auto all = events(rank);
  if (all.empty()) return "";
  const auto* finished = std::get_if<FinishedEvent>(&all.back().body);
  return finished ? finished->status : "";
}

std::string WorkerJob::errors(int rank) const {
  std::string text;
  for (const WorkerEvent& event : events(rank))
    if (const auto* note = std::get_if<NoteEvent>(&event.body); note && note->level == "error")
      text += note->message + "\n";
  return text;
}

std::string WorkerJob::tensors(std::int64_t step) const {
  const std::string digits = std::to_string(step);
  const auto folder = checkpoints() / ("step-" + std::string(8 - digits.size(), '0') + digits);
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") files.insert(entry.path());
  std::string bytes;
  for (const std::filesystem::path& file : files) bytes += read_file(file);
  return bytes;
}

}  // namespace podium
