#include "worker/ops/cpu/state.h"

#include <omp.h>

namespace podium::ops::cpu {

ThreadsScope::ThreadsScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }

ThreadsScope::~ThreadsScope() { omp_set_num_threads(before_); }

CpuState::CpuState(int threads) : threads_(threads), runtime_(engine_, threads) {
  for (int i = 0; i < threads; ++i) single_runtimes_.emplace_back(engine_, 1);
}

Matmul& CpuState::matmul(const MatmulSpec& spec) {
  const auto found = shared_.find(spec);
  if (found != shared_.end()) return found->second;
  const ThreadsScope scope(threads_);
  return shared_.try_emplace(spec, engine_, spec).first->second;
}

Matmul& CpuState::single_thread_matmul(const MatmulSpec& spec, int thread) {
  std::vector<Matmul>& copies = single_[spec];
  if (copies.empty()) {
    const ThreadsScope scope(1);
    for (int i = 0; i < threads_; ++i) copies.emplace_back(engine_, spec);
  }
  return copies[static_cast<std::size_t>(thread)];
}

CpuState& cpu_state(Context& context) {
  if (!context.state) context.state = std::make_unique<CpuState>(context.threads);
  return static_cast<CpuState&>(*context.state);
}

}  // namespace podium::ops::cpu
