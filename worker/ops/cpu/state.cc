#include "worker/ops/cpu/state.h"

#include <omp.h>

namespace podium::ops::cpu {

ThreadsScope::ThreadsScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }

ThreadsScope::~ThreadsScope() { omp_set_num_threads(before_); }

CpuState::CpuState(int threads) : threads_(threads), runtime_(engine_, threads) {
  for (int i = 0; i < threads; ++i) single_runtimes_.emplace_back(engine_, 1);
}

std::shared_ptr<Matmul> CpuState::matmul(const MatmulSpec& spec) {
  return shared_.get(spec, [&] {
    const ThreadsScope scope(threads_);
    return std::make_unique<Matmul>(engine_, spec);
  });
}

std::shared_ptr<Matmul> CpuState::single_thread_matmul(const MatmulSpec& spec, int thread) {
  const auto copies = single_.get(spec, [&] {
    const ThreadsScope scope(1);
    auto made = std::make_unique<std::vector<Matmul>>();
    for (int i = 0; i < threads_; ++i) made->emplace_back(engine_, spec);
    return made;
  });
  return {copies, &(*copies)[static_cast<std::size_t>(thread)]};
}

CpuState& cpu_state(Context& context) {
  if (!context.state) context.state = std::make_unique<CpuState>(context.threads);
  return static_cast<CpuState&>(*context.state);
}

}  // namespace podium::ops::cpu
