// A folder of TensorBoard: each folder below it that has event files is a run, and its files, by name, are
// one stream. Files are read more than once: what a restarted program took back is only known from what
// follows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/curves/event.h"
#include "cli/curves/point.h"

namespace podium::cli {

struct EventFile {
  std::filesystem::path path;
  std::uint64_t size = UINT64_MAX;  // how much of it is read
};

struct EventFolder {
  std::string run;  // relative to the folder above all; "." for that itself
  std::vector<EventFile> files;
};

// By run, without those that are only linked to. Throws std::system_error where a folder cannot be read.
std::vector<EventFolder> event_folders(const std::filesystem::path& folder);
std::vector<std::filesystem::path> linked_folders(const std::filesystem::path& folder);  // by name

// "events.out.tfevents.1700000000.host": of a stream that begins then.
std::string event_file_name(std::int64_t time_ms, const std::string& host);

class EventStream {
 public:
  using Take = std::function<void(const std::string& metric, const CurvePoint& point)>;

  // Reads the files once; what they grow by later is not read.
  explicit EventStream(EventFolder folder);

  const std::string& run() const { return folder_.run; }
  const HyperParameters& parameters() const { return parameters_; }
  const std::set<std::string>& others() const { return others_; }  // tags that are no scalars
  // "FILE, byte 1234: …" for each file that is broken; what it has before that place counts.
  const std::vector<std::string>& broken() const { return broken_; }

  // The points in the order of the files, but for those that a restart took back.
  void read(const Take& take) const;

 private:
  // Every event, and how many sessions have started before it.
  using See = std::function<void(std::size_t session, const Event& event)>;
  std::vector<std::string> read_files(const See& see) const;  // what is broken
  bool is_void(std::size_t session, std::int64_t step) const { return step >= voids_[session]; }

  EventFolder folder_;
  HyperParameters parameters_;
  std::set<std::string> others_;
  std::vector<std::string> broken_;
  std::vector<std::int64_t> voids_;  // of a session, the first step that a later one starts at
};

}  // namespace podium::cli
