// What the CPU back end keeps in a Context between calls: oneDNN's engine and the products compiled lately.
// Batches without padding, and scored tokens, come in ever other numbers of rows, so what is kept is bounded.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "common/base/recently_used.h"
#include "worker/ops/cpu/matmul.h"
#include "worker/tensor/context.h"

namespace podium::ops::cpu {

class CpuState final : public BackendState {
 public:
  explicit CpuState(int threads);

  const dnnl::engine& engine() const { return engine_; }

  // Of either kind. A pass over one batch needs some dozens; oneDNN itself remembers the code of 1,024.
  static constexpr std::size_t kMostProducts = 512;

  // A product that all threads of the context compute together, and what it runs with. Shared, as below: an
  // op may hold more products than are kept.
  std::shared_ptr<Matmul> matmul(const MatmulSpec& spec);
  MatmulRuntime& runtime() { return runtime_; }
  // The same product for one thread alone, to be run inside a parallel region; each thread has its own.
  std::shared_ptr<Matmul> single_thread_matmul(const MatmulSpec& spec, int thread);
  MatmulRuntime& single_thread_runtime(int thread) {
    return single_runtimes_[static_cast<std::size_t>(thread)];
  }

  std::size_t products() const { return shared_.size() + single_.size(); }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  MatmulRuntime runtime_;
  std::deque<MatmulRuntime> single_runtimes_;
  RecentlyUsed<MatmulSpec, Matmul> shared_{kMostProducts};
  RecentlyUsed<MatmulSpec, std::vector<Matmul>> single_{kMostProducts};  // a copy for each thread
};

// The context's state, made at the first call.
CpuState& cpu_state(Context& context);

// oneDNN takes its number of threads from OpenMP's setting of the calling thread; this sets it for one scope.
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads);
  ~ThreadsScope();
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

}  // namespace podium::ops::cpu
