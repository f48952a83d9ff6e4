#include "worker/train/sum_over.h"

namespace podium {

void sum_over(Communicator& comm, Sums& sums) { comm.all_reduce(std::span<double>(sums)).get(); }

LossSums sum_over(Communicator& comm, const LossSums& losses) {
  Sums values;
  for (const LossSum& term : losses)
    values.insert(values.end(),
                  {term.loss, static_cast<double>(term.count), static_cast<double>(term.correct)});
  sum_over(comm, values);
  LossSums all;
  auto value = values.begin();
  for (LossSum& term : all) {
    term.loss = *value++;
    term.count = static_cast<std::int64_t>(*value++);
    term.correct = static_cast<std::int64_t>(*value++);
  }
  return all;
}

}  // namespace podium
