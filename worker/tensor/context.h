// What every op and layer is given: where to compute and with how much. There is no global device, thread
// count or random generator; two contexts in one process do not know of each other.
#pragma once

#include <cstdint>
#include <memory>

#include "worker/tensor/arena.h"
#include "worker/tensor/memory_space.h"

namespace podium {

class Profiler;
namespace ops {
struct Backend;
}

// What a back end keeps between calls (compiled primitives, library handles). Each back end derives its own.
struct BackendState {
  virtual ~BackendState() = default;

  // Counts up whenever memory that ops' work on a device points to, and that the back end keeps between
  // calls, goes elsewhere: recorded work of before is then of no use.
  std::int64_t moves = 0;
};

// Used by one thread at a time.
struct Context {
  MemorySpace memory;                     // of the tensors that ops are given
  const ops::Backend* backend = nullptr;  // none: the CPU's (ops::backend()); outlives the context
  int threads = 1;                        // CPU threads an op may use; fixed once the first op has run
  // Otherwise a device back end may time several ways of computing a product and keep the fastest, which can
  // be another one, with other rounding, in the next process.
  bool deterministic = true;
  // On a device: a micro-batch's work is recorded (as CUDA graphs) and replayed for others of its shape.
  bool recordings = true;
  Arena scratch;                        // for one op's temporaries; open an ArenaScope
  std::unique_ptr<BackendState> state;  // made by the first op that needs it
  Profiler* profiler = nullptr;         // where given, ops and phases tell it when they run
};

}  // namespace podium
