#include "cli/curves/event_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/curves/frame.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 1e13;  // far from where milliseconds overflow

std::int64_t millis_of(double seconds) {
  return seconds >= 0 && seconds < kMostSeconds ? std::llround(seconds * 1000) : 0;
}

bool is_event_file(const fs::directory_entry& entry) {
  return entry.is_regular_file() && entry.path().filename().string().find("tfevents") != std::string::npos;
}

}  // namespace

std::vector<EventFolder> event_folders(const fs::path& folder) {
  std::map<fs::path, std::vector<EventFile>> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (is_event_file(entry)) found[entry.path().parent_path()].push_back({entry.path(), entry.file_size()});
  std::vector<EventFolder> folders;
  for (auto& [path, files] : found) {
    std::ranges::sort(files, {}, &EventFile::path);
    folders.push_back({path.lexically_relative(folder).string(), std::move(files)});
  }
  return folders;
}

std::vector<fs::path> linked_folders(const fs::path& folder) {
  std::vector<fs::path> links;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::error_code broken;
    if (entry.is_symlink() && entry.is_directory(broken)) links.push_back(entry.path());
  }
  std::ranges::sort(links);
  return links;
}

std::string event_file_name(std::int64_t time_ms, const std::string& host) {
  return fmt::format("events.out.tfevents.{:010}.{}", time_ms / 1000, host);
}

EventStream::EventStream(EventFolder folder) : folder_(std::move(folder)) {
  std::vector<std::int64_t> starts;
  broken_ = read_files([&](std::size_t, const Event& event) {
    if (event.session_starts) starts.push_back(event.step);
    parameters_.insert(parameters_.end(), event.parameters.begin(), event.parameters.end());
    others_.insert(event.others.begin(), event.others.end());
  });
  voids_.assign(starts.size() + 1, INT64_MAX);
  for (std::size_t i = starts.size(); i-- > 0;) voids_[i] = std::min(starts[i], voids_[i + 1]);
}

void EventStream::read(const Take& take) const {
  read_files([&](std::size_t session, const Event& event) {
    if (is_void(session, event.step)) return;
    for (const Event::Scalar& scalar : event.scalars)
      take(scalar.tag, {event.step, millis_of(event.wall_time), scalar.value});
  });
}

std::vector<std::string> EventStream::read_files(const See& see) const {
  std::vector<std::string> broken;
  EventReader reader;
  std::size_t session = 0;
  for (const auto& [path, size] : folder_.files) {
    FrameFile file(path, size);
    std::uint64_t offset = 0;
    while (file.next()) {
      const std::optional<Event> event = reader.read(file.frame());
      if (!event) {
        broken.push_back(fmt::format("{}, byte {}: a frame is no event", path.string(), offset));
        break;
      }
      if (event->session_starts) ++session;
      see(session, *event);
      offset = file.offset();
    }
    if (!file.broken().empty()) broken.push_back(path.string() + ", " + file.broken());
  }
  return broken;
}

}  // namespace podium::cli
