#include "worker/tensor/profiler.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/check.h"

namespace podium {
namespace {

const ProfileEvent* parent_of(const std::vector<ProfileEvent>& events, const ProfileEvent& event) {
  return event.parent < 0 ? nullptr : &events[static_cast<std::size_t>(event.parent)];
}

const char* phase_of(const std::vector<ProfileEvent>& events, const ProfileEvent& event) {
  const ProfileEvent* at = &event;
  while (at != nullptr && !at->is_phase) at = parent_of(events, *at);
  return at == nullptr ? "" : at->name;
}

std::string op_name(const ProfileEvent& event) {
  const Shape& shape = event.work.shape;
  return shape.rank() == 0 ? event.name : event.name + to_string(shape);
}

// Each event's duration without that of the events directly within it.
std::vector<std::int64_t> own_durations(const std::vector<ProfileEvent>& events) {
  std::vector<std::int64_t> own;
  own.reserve(events.size());
  for (const ProfileEvent& event : events) {
    PODIUM_CHECK(event.duration_ns >= 0, "a profile is read while no scope is open");
    own.push_back(event.duration_ns);
    if (event.parent >= 0) own[static_cast<std::size_t>(event.parent)] -= event.duration_ns;
  }
  return own;
}

}  // namespace

std::int64_t Profiler::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
}

void Profiler::open(const char* name, bool is_phase, const ProfileWork& work, DeviceStream* stream) {
  if (open_ < 0) stream_ = stream;
  PODIUM_CHECK(stream == stream_, "scopes within each other are timed on one stream");
  if (stream_ != nullptr) stamps_.push_back({stream_->stamp(), nullptr});
  events_.push_back({name, is_phase, now_ns(), -1, work, open_});
  open_ = static_cast<std::ptrdiff_t>(events_.size()) - 1;
}

void Profiler::close() {
  PODIUM_CHECK(open_ >= 0, "a profile scope closes once");
  const auto index = static_cast<std::size_t>(open_);
  ProfileEvent& event = events_[index];
  event.duration_ns = now_ns() - event.begin_ns;
  open_ = event.parent;
  if (stream_ == nullptr) return;
  stamps_[index - (events_.size() - stamps_.size())].end = stream_->stamp();
  if (open_ < 0) read_stamps();
}

// The host's clock says when the outermost scope began, the device's all else.
void Profiler::read_stamps() {
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  const std::size_t first = events_.size() - stamps_.size();
  const DeviceTimestamp& outermost = *stamps_.front().begin;
  const std::int64_t took_ns = ns(stamps_.front().end->seconds_since(outermost));
  const std::int64_t begin_ns = now_ns() - took_ns;  // it is over now
  for (std::size_t i = 0; i < stamps_.size(); ++i) {
    ProfileEvent& event = events_[first + i];
    event.begin_ns = begin_ns + ns(stamps_[i].begin->seconds_since(outermost));
    event.duration_ns = ns(stamps_[i].end->seconds_since(*stamps_[i].begin));
  }
  stamps_.clear();
}

std::vector<ProfileEvent> select_phases(const std::vector<ProfileEvent>& events, std::string_view name,
                                        int skip) {
  std::vector<ProfileEvent> selected;
  std::ptrdiff_t dropped = 0;  // events before the one in hand
  int to_skip = skip;
  bool within = false;
  for (const ProfileEvent& event : events) {
    if (event.parent < 0) {
      const bool named = event.is_phase && event.name == name;
      within = named && to_skip <= 0;
      to_skip -= named ? 1 : 0;
    }
    if (!within) {
      ++dropped;
      continue;
    }
    selected.push_back(event);
    // Parents of selected events are selected, and none was dropped between them and the event.
    if (event.parent >= 0) selected.back().parent -= dropped;
  }
  return selected;
}

std::vector<ProfileRow> summarise(const std::vector<ProfileEvent>& events) {
  const std::vector<std::int64_t> own = own_durations(events);
  std::map<std::pair<std::string, std::string>, ProfileRow> sums;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const ProfileEvent& event = events[i];
    const std::string phase = phase_of(events, event), op = event.is_phase ? "" : op_name(event);
    ProfileRow& row = sums[{phase, op}];
    row.phase = phase;
    row.op = op;
    row.calls += 1;
    row.seconds += static_cast<double>(own[i]) * 1e-9;
    row.flops += event.work.flops;
    row.bytes += event.work.bytes;
  }
  std::vector<ProfileRow> rows;
  for (auto& [key, row] : sums) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::greater{}, &ProfileRow::seconds);
  return rows;
}

std::string trace_json(const std::vector<ProfileEvent>& events, int process, std::string_view process_name) {
  nlohmann::ordered_json trace = nlohmann::ordered_json::array();
  trace.push_back({{"name", "process_name"},
                   {"ph", "M"},
                   {"pid", process},
                   {"tid", 0},
                   {"args", {{"name", process_name}}}});
  for (const ProfileEvent& event : events) {
    const auto duration = static_cast<double>(event.duration_ns);
    nlohmann::ordered_json entry{{"name", op_name(event)},
                                 {"cat", event.is_phase ? "phase" : "op"},
                                 {"ph", "X"},
                                 {"ts", static_cast<double>(event.begin_ns) * 1e-3},
                                 {"dur", duration * 1e-3},
                                 {"pid", process},
                                 {"tid", 0}};
    if (event.work.flops > 0 && duration > 0) entry["args"]["GFLOP/s"] = event.work.flops / duration;
    if (event.work.bytes > 0 && duration > 0) entry["args"]["GB/s"] = event.work.bytes / duration;
    trace.push_back(std::move(entry));
  }
  return nlohmann::ordered_json{{"traceEvents", std::move(trace)}, {"displayTimeUnit", "ms"}}.dump();
}

}  // namespace podium
