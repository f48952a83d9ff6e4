// What the CPU back end keeps in a Context between calls: oneDNN's engine and the products compiled so far.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "worker/ops/cpu/matmul.h"
#include "worker/tensor/context.h"

namespace podium::ops::cpu {

class CpuState final : public BackendState {
 public:
  explicit CpuState(int threads);

  const dnnl::engine& engine() const { return engine_; }

  // A product that all threads of the context compute together, and what it runs with.
  Matmul& matmul(const MatmulSpec& spec);
  MatmulRuntime& runtime() { return runtime_; }
  // The same product for one thread alone, to be run inside a parallel region; each thread has its own.
  Matmul& single_thread_matmul(const MatmulSpec& spec, int thread);
  MatmulRuntime& single_thread_runtime(int thread) {
    return single_runtimes_[static_cast<std::size_t>(thread)];
  }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  MatmulRuntime runtime_;
  std::deque<MatmulRuntime> single_runtimes_;
  std::map<MatmulSpec, Matmul> shared_;
  std::map<MatmulSpec, std::vector<Matmul>> single_;
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
