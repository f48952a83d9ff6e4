#include "worker/commands/gradients.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/logging.h"
#include "worker/comm/parallel.h"
#include "worker/commands/gang.h"
#include "worker/commands/gradients_batch.h"
#include "worker/commands/temporary_folder.h"
#include "worker/data/failure.h"
#include "worker/formats/full_tensors.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/safetensors.h"
#include "worker/nn/pretraining_head.h"
#include "worker/train/engine.h"
#include "worker/train/job_device.h"
#include "worker/train/loss_scaler.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> arguments_of(const GradientsRun& run, int rank, const fs::path& meeting) {
  std::vector<std::string> arguments{"gradients",
                                     "--init=" + run.init.string(),
                                     "--batch=" + run.batch.string(),
                                     "--out=" + run.out.string(),
                                     "--precision=" + std::string(to_string(run.precision)),
                                     "--tensor=" + std::to_string(run.tensor),
                                     "--pipeline=" + std::to_string(run.pipeline),
                                     "--threads=" + std::to_string(run.threads),
                                     "--rank=" + std::to_string(rank),
                                     "--meeting=" + meeting.string()};
  if (run.gpu) arguments.emplace_back("--gpu");
  return arguments;
}

GlooOptions gradients_meeting(const GradientsRun& run, const std::atomic<bool>& stop) {
  GlooOptions options;
  options.size = run.world();
  if (run.world() == 1) return options;
  const auto meeting = nlohmann::json::parse(read_file(run.rank->meeting));
  options.rank = run.rank->rank;
  options.master_address = "127.0.0.1";
  options.master_port = meeting.at("port");
  options.secret = meeting.at("secret");
  options.stop = &stop;
  return options;
}

int gradients_threads(const GradientsRun& run) {
  if (run.threads > 0) return run.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / run.world());
}

ModelSpec read_model(const fs::path& folder) {
  ModelSpec spec = read_hugging_face_config(folder);
  spec.dropout = spec.attention_dropout = 0;
  return spec;
}

std::unique_ptr<Model> make_loaded_model(Context& context, const ModelSpec& spec, const GradientsRun& run,
                                         const ParallelGroups& groups) {
  std::unique_ptr<Model> model;
  try {
    model = make_model(context, spec, {.precision = run.precision}, groups);
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
  const std::vector<std::string> absent = load_hugging_face(run.init, spec, model->parameters());
  if (!absent.empty())
    throw Failure(WorkerExit::bad_spec, fmt::format("{} has no {}: without it there is no loss",
                                                    run.init.string(), fmt::join(absent, ", ")));
  return model;
}

// The mean of each term of which there are labels, under its name.
using Losses = std::vector<std::pair<std::string, double>>;

Losses mean_losses(const HeadPlan& head, const LossSums& part, Communicator& world) {
  std::vector<double> sums;
  for (const LossSum& term : part) sums.insert(sums.end(), {term.loss, static_cast<double>(term.count)});
  world.all_reduce(std::span<double>(sums)).get();
  Losses losses;
  for (std::size_t term = 0; term < head.terms.size(); ++term)
    if (const double count = sums[2 * term + 1]; count > 0)
      losses.emplace_back(std::string(head.terms[term].name) + "_loss", sums[2 * term] / count);
  return losses;
}

double total(const Losses& losses) {
  double sum = 0;
  for (const auto& [_, loss] : losses) sum += loss;
  return sum;
}

// Of all gradients together; what several ranks hold counts several times, which is enough to tell whether
// all are finite.
double rough_norm(std::span<const float> gradients, Communicator& world) {
  double squares = 0;
  for (const float value : gradients) squares += static_cast<double>(value) * value;
  world.all_reduce(std::span<double>(&squares, 1)).get();
  return std::sqrt(squares);
}

struct BatchResult {
  Losses losses;
  std::vector<float> gradients;  // of the mean losses, laid out like the model's
};

BatchResult run_batch(const Context& context, Model& model, const HeadPlan& head, const MicroBatch& batch,
                      Precision precision, const ParallelGroups& groups, Communicator& world) {
  Engine engine(context, model, groups);
  LossScaler scaler(precision);
  while (true) {
    const double scale = scaler.scale();
    LossScales scales{};
    for (std::size_t term = 0; term < scales.size(); ++term)
      if (const auto& labels = batch.targets[term].labels; !labels.empty())
        scales[term] = static_cast<float>(scale / static_cast<double>(labels.size()));
    engine.train({&batch, 1}, scales, {}, [](std::int64_t, std::int64_t) {});
    const LossSums sums = engine.take_losses();
    std::vector<float> gradients = context.memory.downloaded<float>(model.parameters().gradients());
    switch (scaler.judge(rough_norm(gradients, world))) {
      case StepVerdict::take:
        for (float& value : gradients) value = static_cast<float>(value / scale);
        return {mean_losses(head, sums, world), std::move(gradients)};
      case StepVerdict::rescale:
        model.parameters().clear_gradients();
        break;
      case StepVerdict::pass_over:
      case StepVerdict::diverged:
        throw Failure(WorkerExit::diverged, "the gradients of this batch are not finite");
    }
  }
}

void write(const fs::path& path, const std::vector<FullTensor>& gradients, const Losses& losses,
           const GradientsRun& run) {
  std::vector<TensorEntry> entries;
  for (const FullTensor& tensor : gradients)
    entries.push_back({tensor.name, "F32", tensor.shape, std::as_bytes(std::span(tensor.values))});
  std::map<std::string, std::string> metadata = {{"format", "pt"},
                                                 {"loss", fmt::format("{:.9g}", total(losses))},
                                                 {"precision", std::string(to_string(run.precision))}};
  for (const auto& [name, loss] : losses) metadata[name] = fmt::format("{:.9g}", loss);
  write_safetensors(path, std::move(entries), metadata);
}

}  // namespace

int start_gradients(const GradientsRun& run, const fs::path& program) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "meeting.json";
  const LocalMeeting meeting = choose_local_meeting();
  write_file_atomic(path, nlohmann::json{{"port", meeting.port}, {"secret", meeting.secret}}.dump(), 0600);
  std::vector<std::vector<std::string>> arguments;
  for (int rank = 0; rank < run.world(); ++rank) arguments.push_back(arguments_of(run, rank, path));
  return run_gang(program, arguments);
}

void compute_gradients(const GradientsRun& run, const std::atomic<bool>& stop) {
  const JobDevice device = open_job_device(run.gpu ? "gpu" : "cpu", run.rank ? run.rank->rank : 0);
  Context context;
  device.lend_to(context);
  context.threads = gradients_threads(run);
  omp_set_num_threads(context.threads);
  const ModelSpec spec = read_model(run.init);
  const MicroBatch batch = read_gradients_batch(run.batch, spec);
  const std::unique_ptr<Communicator> world = meet_world(gradients_meeting(run, stop), context.memory);
  ParallelGroups groups = make_groups(*world, {.tensor = run.tensor, .pipeline = run.pipeline});
  const std::unique_ptr<Model> model = make_loaded_model(context, spec, run, groups);
  const auto [losses, gradients] =
      run_batch(context, *model, pretraining_head(spec.family), batch, run.precision, groups, *world);
  const std::vector<FullTensor> full = gather_full(groups, model->parameters(), gradients);
  if (world->rank() == 0) {
    write(run.out, to_hugging_face(spec, full), losses, run);
    std::printf("loss %.9g\n", total(losses));
    if (losses.size() > 1)
      for (const auto& [name, loss] : losses) std::printf("%s %.9g\n", name.c_str(), loss);
  }
  world->barrier();  // rank 0 hosts the meeting until all are done
}

}  // namespace podium
