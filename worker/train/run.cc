#include "worker/train/run.h"

#include <omp.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "common/base/logging.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/single_communicator.h"
#include "worker/data/bad_data.h"
#include "worker/train/failure.h"
#include "worker/train/pretraining_task.h"
#include "worker/train/trainer.h"

namespace podium {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Failure(WorkerExit::bad_spec, message); }

void check_supported(const Launch& launch) {
  const JobSpec& spec = launch.spec;
  if (launch.device_kind != "cpu")
    throw Failure(WorkerExit::no_device, "device kind \"" + launch.device_kind +
                                             "\": this build of podium-worker computes on the CPU only");
  if (spec.model.family != ModelFamily::bert || spec.training.task != TrainingTask::pretrain)
    refuse("this build of podium-worker trains the task pretrain of family bert, not " +
           std::string(to_string(spec.training.task)) + " of family " +
           std::string(to_string(spec.model.family)));
  if (spec.parallel.tensor != 1 || spec.parallel.pipeline != 1)
    refuse("this build of podium-worker is data parallel only; set parallel to {tensor: 1, pipeline: 1}");
  if (spec.data.tokenizer.wordpiece.empty())
    refuse("BERT needs a WordPiece vocabulary: set data.tokenizer.wordpiece");
  if (spec.evaluate.every > 0 && spec.evaluate.data.empty()) refuse("evaluate.every needs evaluate.data");
}

void check_numbers(const Launch& launch) {
  const TrainingSpec& training = launch.spec.training;
  if (launch.world_size < 1 || launch.task.rank < 0 || launch.task.rank >= launch.world_size)
    refuse("rank " + std::to_string(launch.task.rank) + " does not exist among " +
           std::to_string(launch.world_size));
  if (training.batch.global < 1 || training.batch.micro < 1 || training.batch.global % launch.world_size != 0)
    refuse("training.batch.global " + std::to_string(training.batch.global) +
           " must be a positive multiple of the " + std::to_string(launch.world_size) +
           " devices, and training.batch.micro positive");
  if (training.sequence_length < 8) refuse("training.sequence_length must be at least 8");
  if (training.schedule.steps < 1) refuse("training.schedule.steps must be at least 1");
}

int thread_count(const Launch& launch) {
  if (launch.threads > 0) return launch.threads;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cores / std::max(1, launch.local_world_size));
}

std::unique_ptr<Communicator> meet_peers(const Launch& launch, const std::atomic<bool>& stop) {
  if (launch.world_size == 1) return std::make_unique<SingleCommunicator>();
  GlooOptions options;
  options.rank = launch.task.rank;
  options.size = launch.world_size;
  options.master_address = launch.master_address;
  options.master_port = launch.master_port;
  options.secret = launch.secret;
  options.stop = &stop;
  return std::make_unique<GlooCommunicator>(options);
}

// `step` learns how far a run came that fails.
void train(const Launch& launch, EventLog& events, const std::atomic<bool>& stop, std::int64_t& step) {
  check_supported(launch);
  check_numbers(launch);
  Context context;
  context.threads = thread_count(launch);
  omp_set_num_threads(context.threads);
  const PretrainingText text = read_pretraining_text(launch.spec, launch.data_folder);
  PretrainingTask task(launch.spec, text, context, launch.task.rank, launch.world_size);
  std::unique_ptr<Communicator> comm;
  try {
    comm = meet_peers(launch, stop);
  } catch (const StopRequested& reason) {  // nothing is trained yet, so nothing is to be saved
    events.note("info", reason.what());
    events.write(FinishedEvent{0, "preempted"});
    return;
  }
  Trainer trainer({launch.spec, launch.checkpoint_folder, context.threads}, task, *comm, events, stop);
  try {
    trainer.run();
  } catch (...) {
    step = trainer.step();
    throw;
  }
}

// Runs `body` and tells which exit code its failure stands for.
template <class Body>
std::pair<WorkerExit, std::string> exit_of(const Body& body) {
  try {
    body();
    return {WorkerExit::done, ""};
  } catch (const Failure& failure) {
    return {failure.exit, failure.what()};
  } catch (const BadData& error) {
    return {WorkerExit::bad_data, error.what()};
  } catch (const PeerLost& error) {
    return {WorkerExit::peer_lost, error.what()};
  } catch (const AddressInUse& error) {
    return {WorkerExit::address_in_use, error.what()};
  } catch (const std::exception& error) {
    return {WorkerExit::bug, error.what()};
  }
}

}  // namespace

WorkerExit run_worker(const Launch& launch, const std::atomic<bool>& stop) {
  const SystemClock clock;
  std::optional<EventLog> events;
  std::int64_t step = 0;
  auto [code, message] = exit_of([&] {
    events.emplace(launch.events_path, clock);
    train(launch, *events, stop, step);
  });
  if (code == WorkerExit::done) return code;
  spdlog::error("{}", message);
  const auto [told, why] = exit_of([&] {
    if (!events) return;
    events->note("error", message);
    events->write(FinishedEvent{step, "failed"});
  });
  if (told != WorkerExit::done) spdlog::error("{}", why);
  return code;
}

}  // namespace podium
