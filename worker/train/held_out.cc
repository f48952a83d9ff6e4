#include "worker/train/held_out.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include "common/base/file.h"
#include "worker/data/failure.h"
#include "worker/tensor/downloaded.h"
#include "worker/train/sum_over.h"

namespace podium {

Findings findings_of_held_out(Task& task, Engine& engine, Context& context, Communicator& world,
                              bool counts_data) {
  const auto begin = std::chrono::steady_clock::now();
  const TaskBatch& held_out = task.held_out();
  Sums scores(task.score_count(), 0.0);
  const LossSums losses =
      engine.evaluate(held_out.micro_batches, [&](const MicroBatch& batch, ConstTensorView predictions) {
        task.score(batch, {predictions.shape[1], downloaded(context, predictions)}, scores);
      });
  Sums totals = held_out.totals;
  if (!counts_data) std::ranges::fill(totals, 0.0);
  Evaluation all{std::move(totals), sum_over(world, losses), std::move(scores)};
  sum_over(world, all.totals);
  if (!all.scores.empty()) sum_over(world, all.scores);
  all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  world.broadcast(std::as_writable_bytes(std::span(&all.seconds, 1)), 0);
  return task.findings(all);
}

void write_task_files(const std::filesystem::path& folder, const std::vector<TaskFile>& files) {
  try {
    for (const TaskFile& file : files) write_file_atomic(folder / file.name, file.content);
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  std::string("cannot write what an evaluation found: ") + error.what());
  }
}

}  // namespace podium
