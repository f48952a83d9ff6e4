// Where a step's time goes: scopes that ops and phases open while they run, kept as a list of events. Without
// a profiler in the context a scope costs one null check. Scopes close in reverse order of opening, on the
// context's thread; names must outlive the profiler (string literals).
//
// On a device the time is the device's: a scope begins where the stream is done with what was put on it
// before the scope opened, and ends where it is done with what was put on it within. So steps and ops follow
// one another without gaps, and one that the device had to wait for takes the longer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tensor/context.h"
#include "worker/tensor/shape.h"

namespace podium {

// What an op has to do.
struct ProfileWork {
  double flops = 0;  // of its matrix products
  double bytes = 0;  // of its operands, each once
  Shape shape = {};  // of a product: [rows, columns, terms of each sum]
};

// Of those operands that are given.
template <class... Views>
double bytes_of(const Views&... operands) {
  return (0.0 + ... + (operands.address == nullptr ? 0.0 : static_cast<double>(operands.bytes())));
}

struct ProfileEvent {
  const char* name = "";
  bool is_phase = false;         // such as "forward"; ops belong to the innermost phase around them
  std::int64_t begin_ns = 0;     // since the profiler was made
  std::int64_t duration_ns = 0;  // negative while the scope is open
  ProfileWork work;
  std::ptrdiff_t parent = -1;  // the event around it, -1: none
};

class Profiler {
 public:
  using Clock = std::chrono::steady_clock;

  // `stream`: the device's that the scope is timed on; the same for all scopes within.
  void open(const char* name, bool is_phase, const ProfileWork& work, DeviceStream* stream = nullptr);
  void close();  // of the outermost scope: waits for the device

  // Complete only while no scope is open. An event's parent comes before it.
  const std::vector<ProfileEvent>& events() const { return events_; }

  // Bytes held now, by kind: "weights", "gradients", …
  void set_memory(const std::string& kind, std::int64_t bytes) { memory_[kind] = bytes; }
  void add_memory(const std::string& kind, std::int64_t bytes) { memory_[kind] += bytes; }
  const std::map<std::string, std::int64_t>& memory() const { return memory_; }

 private:
  // When a scope on a device opened and closed.
  struct Stamps {
    std::unique_ptr<DeviceTimestamp> begin, end;
  };

  std::int64_t now_ns() const;
  void read_stamps();

  Clock::time_point start_ = Clock::now();
  std::vector<ProfileEvent> events_;
  std::ptrdiff_t open_ = -1;        // the innermost open scope
  DeviceStream* stream_ = nullptr;  // of the open scopes
  std::vector<Stamps> stamps_;      // of the events of the outermost scope that is open, on a device
  std::map<std::string, std::int64_t> memory_;
};

// One op while it runs.
class ProfileScope {
 public:
  ProfileScope(const Context& context, const char* name, const ProfileWork& work = {})
      : ProfileScope(context, name, false, work) {}
  ~ProfileScope() {
    if (profiler_ != nullptr) profiler_->close();
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 protected:
  ProfileScope(const Context& context, const char* name, bool is_phase, const ProfileWork& work)
      : profiler_(context.profiler) {
    if (profiler_ != nullptr) profiler_->open(name, is_phase, work, context.memory.stream);
  }

 private:
  Profiler* profiler_;
};

// One phase of a step while it runs.
class ProfilePhase : public ProfileScope {
 public:
  ProfilePhase(const Context& context, const char* name) : ProfileScope(context, name, true, {}) {}
};

// The events of outermost phases called `name` and all within them, without the first `skip` of those phases.
std::vector<ProfileEvent> select_phases(const std::vector<ProfileEvent>& events, std::string_view name,
                                        int skip);

// What an op cost in one phase, over all its calls; time within ops that it calls counts as theirs.
struct ProfileRow {
  std::string phase;  // "" outside of any
  std::string op;     // with its shape where it has one; "" for a phase's own time, outside of any op
  std::int64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;
};

// The most expensive first; the rows add up to the time within outermost scopes.
std::vector<ProfileRow> summarise(const std::vector<ProfileEvent>& events);

// The trace event format of Chrome, which Perfetto opens: a JSON object; `process` tells ranks apart.
std::string trace_json(const std::vector<ProfileEvent>& events, int process, std::string_view process_name);

}  // namespace podium
