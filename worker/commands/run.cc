#include "worker/commands/run.h"

#include <omp.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "common/base/boot_clock.h"
#include "common/base/logging.h"
#include "common/model/data_path.h"
#include "common/model/layout_rules.h"
#include "common/spec/goals.h"
#include "worker/commands/replica.h"
#include "worker/data/failure.h"
#include "worker/infer/calibration.h"
#include "worker/input/bad_data.h"
#include "worker/ops/attention.h"
#include "worker/tasks/tasks.h"
#include "worker/tokenizer/vocabulary_room.h"
#include "worker/train/job_device.h"
#include "worker/train/job_model.h"
#include "worker/train/measured_run.h"
#include "worker/train/read_together.h"
#include "worker/train/run_clock.h"
#include "worker/train/trainer.h"

namespace podium {
namespace {

void check_supported(const Launch& launch) {
  const JobSpec& spec = launch.spec;
  find_task(spec).check(spec);
  const TokenizerSpec& tokenizer = spec.data.tokenizer;
  std::vector<std::string> paths = spec.data.train;
  paths.insert(paths.end(), {tokenizer.wordpiece, tokenizer.bpe_vocab, tokenizer.bpe_merges,
                             spec.evaluate.data, spec.model.init});
  if (spec.training.quantise) paths.push_back(spec.training.quantise->ranges);
  for (const std::string& path : paths)
    if (leads_out_of_folder(path))
      refuse_spec("the path " + path + " leads out of the data folder, in which it begins");
  if (spec.evaluate.every > 0 && spec.evaluate.data.empty())
    refuse_spec("evaluate.every needs evaluate.data");
  if (spec.mlperf && !spec.target) refuse_spec("mlperf needs a target");
  if (spec.resume && launch.resume_folder.empty())
    refuse_spec("\"resume\" names a job of a cluster: submit the spec to its coordinator");
  if (spec.model.init_job && launch.init_folder.empty())
    refuse_spec(
        "\"model.init\" names a job of a cluster: submit the spec to its coordinator, or write the path of a "
        "checkpoint");
}

// The direction of a metric is that in which a target on it would lie.
std::optional<BestRule> best_rule(const CheckpointSpec& checkpoint) {
  if (checkpoint.best.empty()) return std::nullopt;
  const GoalMetric* const metric = find_goal(checkpoint.best);
  if (metric == nullptr)
    refuse_spec("checkpoint.best: podium-worker has no metric \"" + checkpoint.best + "\"");
  return BestRule{checkpoint.best, metric->goal};
}

void check_phase(const TrainingSpec& training, const LayoutRules& rules, int copies) {
  const BatchSpec& batch = training.batch;
  if (batch.micro < 1 || batch.global < 1 || batch.global % rules.batch_unit(batch.micro, copies) != 0)
    refuse_spec(fmt::format(
        "training.batch.global {} must be a positive multiple of training.batch.micro {} x {} "
        "data-parallel ranks{}; a run that goes on from a checkpoint may change training.batch.micro",
        batch.global, batch.micro, copies,
        rules.micro_batches_unit() == 1
            ? ""
            : fmt::format(" x {} stages of an interleaved pipeline", rules.micro_batches_unit())));
  if (training.sequence_length < 8) refuse_spec("training.sequence_length must be at least 8");
  if (training.schedule.steps < 1) refuse_spec("training.schedule.steps must be at least 1");
}

void check_numbers(const Launch& launch) {
  if (launch.world_size < 1 || launch.task.rank < 0 || launch.task.rank >= launch.world_size)
    refuse_spec(fmt::format("rank {} does not exist among {}", launch.task.rank, launch.world_size));
  const LayoutRules rules = layout_rules(launch.spec.parallel);
  if (!rules.possible())
    refuse_spec(
        fmt::format("parallel.tensor {}, pipeline {} and interleave {} must be positive, and interleave 1 "
                    "where there is one stage",
                    rules.tensor, rules.pipeline, rules.interleave));
  const ParallelLayout layout = layout_of(launch.spec, launch.world_size);
  for (const TrainingPhase& phase : training_phases(launch.spec.training)) {
    check_phase(phase.training, rules, layout.data);
    if (phase.training.sequence_length > launch.spec.model.max_positions)
      refuse_spec(fmt::format("training.sequence_length {} must lie within model.max_positions {}",
                              phase.training.sequence_length, launch.spec.model.max_positions));
    if (launch.spec.resources.kind == "gpu" && launch.spec.model.attention_dropout > 0 &&
        phase.training.sequence_length > ops::kMaxDeviceLengthWithDropout)
      refuse_spec(fmt::format(
          "training.sequence_length {} must be at most {} on GPUs with dropout; set model.attention_dropout "
          "to 0 for longer sequences",
          phase.training.sequence_length, ops::kMaxDeviceLengthWithDropout));
  }
}

int thread_count(const Launch& launch) {
  if (launch.threads > 0) return launch.threads;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cores / std::max(1, launch.local_world_size));
}

GlooOptions meeting_of(const Launch& launch, EventLog& events, const std::atomic<bool>& stop,
                       const std::atomic<const char*>& activity) {
  GlooOptions options;
  options.rank = launch.task.rank;
  options.size = launch.world_size;
  options.master_address = launch.master_address;
  options.master_port = launch.master_port;
  options.secret = launch.secret;
  options.stop = &stop;
  // One write(2) a line, so events may be written from the other thread as well.
  options.on_long_wait = [&events, &activity, lead = launch.task.rank == 0](const std::string& wait) {
    const std::string message = fmt::format("{}, while {}", wait, activity.load());
    spdlog::warn("{}", message);
    try {
      if (lead) events.note("warning", message);
    } catch (const Failure& failure) {  // which the training will meet, too
      spdlog::error("{}", failure.what());
    }
  };
  return options;
}

// Those of the calibrated model that the spec names, if it does.
std::function<std::vector<float>()> first_ranges(const Launch& launch, const ModelSpec& model) {
  const std::optional<QuantiseSpec>& quantise = launch.spec.training.quantise;
  if (!quantise || quantise->ranges.empty()) return nullptr;
  return [folder = std::filesystem::path(launch.data_folder) / quantise->ranges, model,
          format = quantise->format] { return calibrated_ranges(folder, model, format); };
}

// Reads the job's text; for a thread that may outlive the launch.
std::function<TaskSource(Reading&)> reader_of(const Launch& launch, const ParallelLayout& layout) {
  return [=, read = find_task(launch.spec).read, spec = launch.spec, folder = launch.data_folder,
          data_rank = place_of(layout, launch.task.rank).data](Reading& reading) {
    return read(spec, folder, reading, data_rank, layout.data);
  };
}

// done, or saved when it was told to leave. `step` learns how far a run came that fails.
WorkerExit train(const Launch& launch, const LaunchClock& known, const Clock& clock, EventLog& events,
                 const std::atomic<bool>& stop, Profiler* profiler, std::int64_t& step) {
  const BootClock boot;
  const RunClock run_clock(known.ahead, clock, boot);
  const Time began = run_clock.now();
  check_supported(launch);
  check_numbers(launch);
  const JobDevice device = open_job_device(launch.device_kind, launch.local_rank);
  Context context;
  device.lend_to(context);
  context.threads = thread_count(launch);
  context.profiler = profiler;
  omp_set_num_threads(context.threads);
  const ParallelLayout layout = layout_of(launch.spec, launch.world_size);

  std::atomic<const char*> activity{"meeting the other ranks"};  // outlives the communicators
  std::unique_ptr<Communicator> world;
  ParallelGroups groups;
  TaskSource tasks;
  std::optional<CheckpointFolder> checkpoints;
  std::unique_ptr<MlperfLog> mlperf;
  const auto tell = [&](WorkerPhase phase) {
    if (launch.task.rank == 0) events.write(PhaseEvent{phase, {}});
  };
  try {
    tell(WorkerPhase::rendezvous);
    world = meet_world(meeting_of(launch, events, stop, activity), context.memory);
    tell(WorkerPhase::loading);
    checkpoints.emplace(launch.checkpoint_folder, world->rank() == 0);  // before hours may go into reading
    groups = make_groups(*world, layout);
    if (launch.spec.mlperf)
      mlperf = begin_measured_run(launch, known, began, describe_device(context), run_clock, *world);
    activity = "reading the text";
    tasks = read_together(*world, events, stop, reader_of(launch, layout));
  } catch (const StopRequested& reason) {  // nothing is trained yet, so nothing is to be saved
    events.note("info", reason.what());
    events.write(FinishedEvent{0, "preempted"});
    return WorkerExit::saved;
  }
  const ModelSpec shape = model_of(launch.spec, tasks.vocabulary);
  if (launch.task.rank == 0 && is_far_smaller(tasks.vocabulary, shape.vocab)) {
    const std::string warning = fmt::format(
        "the tokenizer has {} tokens and the model {}: if it is cut off or another model's, nothing is "
        "learnt",
        tasks.vocabulary, shape.vocab);
    spdlog::warn("{}", warning);
    events.note("warning", warning);
  }
  const std::unique_ptr<Model> model = make_job_model(context, launch.spec, shape, tasks.head, groups);
  const auto first_weights = [&](ParameterStore& parameters) {
    return fill_first_weights(launch, shape, tasks, parameters, *world, context.threads);
  };
  std::optional<TeacherModel> teacher;
  if (launch.spec.training.distill)
    teacher.emplace(context, launch.spec, shape, tasks.head, groups.last_stage(), first_weights);
  Trainer trainer(launch.spec, *std::move(checkpoints),
                  {context, *world, groups, *model, tasks, events, stop, first_weights, launch.resume_folder,
                   &activity, best_rule(launch.spec.checkpoint), first_ranges(launch, shape),
                   teacher ? &*teacher : nullptr, mlperf.get()});
  try {
    trainer.run();
  } catch (...) {
    step = trainer.step();
    throw;
  }
  return trainer.was_stopped() ? WorkerExit::saved : WorkerExit::done;
}

// Runs `body` and tells its exit code, or which one its failure stands for and why.
template <class Body>
std::pair<WorkerExit, std::string> exit_of(const Body& body) {
  try {
    return {body(), ""};
  } catch (const Failure& failure) {
    return {failure.exit, failure.what()};
  } catch (const BadData& error) {
    return {WorkerExit::bad_data, error.what()};
  } catch (const PeerLost& error) {
    return {WorkerExit::peer_lost, error.what()};
  } catch (const ops::DeviceUnavailable& error) {
    return {WorkerExit::no_device, error.what()};
  } catch (const AddressInUse& error) {
    return {WorkerExit::address_in_use, error.what()};
  } catch (const std::exception& error) {
    return {WorkerExit::bug, error.what()};
  }
}

}  // namespace

WorkerExit run_worker(const Launch& launch, const LaunchClock& known, const std::atomic<bool>& stop,
                      Profiler* profiler) {
  const SystemClock clock;
  std::optional<EventLog> events;
  std::int64_t step = 0;
  auto [code, message] = exit_of([&] {
    events.emplace(launch.events_path, clock);
    return launch.spec.serve ? serve_replica(launch, *events, stop)
                             : train(launch, known, clock, *events, stop, profiler, step);
  });
  if (code == WorkerExit::done || code == WorkerExit::saved) return code;
  spdlog::error("{}", message);
  const auto [told, why] = exit_of([&] {
    if (!events) return WorkerExit::done;
    events->note("error", message);
    events->write(FinishedEvent{step, "failed"});
    return WorkerExit::done;
  });
  if (told != WorkerExit::done) spdlog::error("{}", why);
  return code;
}

}  // namespace podium
