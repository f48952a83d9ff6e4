#include "agent/process/task_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "agent/process/file_tail.h"
#include "agent/process/shim_protocol.h"
#include "common/base/file.h"
#include "common/base/logging.h"
#include "common/model/codec.h"
#include "common/model/worker_event.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kRecordFile[] = "task.json";

constexpr char kJobsFolder[] = "jobs";

constexpr std::size_t kLongestLaunch = 4 << 20;

fs::path jobs_folder(const fs::path& home) { return home / kJobsFolder; }

// mkdir -p with mode 0700.
void make_folders(const fs::path& path) {
  if (fs::is_directory(path)) return;
  make_folders(path.parent_path());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw std::system_error(errno, std::generic_category(), "cannot create " + path.string());
}

void write_private(const fs::path& path, std::string_view content) {
  const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  write_all(fd.get(), content, path);
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  return paths;
}

// The number that a name stands for, if the name is written as numbers are.
template <class Number>
std::optional<Number> number_in(const std::string& name) {
  Number number = -1;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number >= 0 && std::to_string(number) == name ? std::optional(number) : std::nullopt;
}

// The folders in `folder` whose names are numbers; everything else goes to `strange`.
template <class Number>
std::vector<std::pair<Number, fs::path>> numbered(const fs::path& folder, std::vector<fs::path>& strange) {
  std::vector<std::pair<Number, fs::path>> found;
  for (const fs::path& path : entries(folder)) {
    const std::optional<Number> number = number_in<Number>(path.filename());
    if (number && fs::is_directory(path))
      found.emplace_back(*number, path);
    else
      strange.push_back(path);
  }
  return found;
}

json json_of(const TaskRecord& record) {
  json out{{"version", 1},
           {"job", record.task.attempt.job.value},
           {"attempt", record.task.attempt.number},
           {"rank", record.task.rank},
           {"boot", record.boot},
           {"device", {{"kind", record.device_kind}, {"index", record.device_index}}},
           {"pid", record.pid},
           {"leased", record.leased},
           {"forgotten", record.forgotten}};
  if (!record.outputs.empty())
    out["outputs"] = {
        {"globs", record.outputs}, {"below", record.working_folder}, {"collected", record.collected}};
  if (record.traced) out["traced"] = true;
  if (!record.more_devices.empty()) out["device"]["more"] = record.more_devices;
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    out["delivered"][std::string(to_string(kStreams[i]))] = record.delivered[i];
  if (record.kill_by) out["kill_by_ms"] = to_millis(*record.kill_by);
  if (record.exit) out["exit"] = to_json(*record.exit);
  return out;
}

TaskRecord record_from(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("its version is not 1");
  TaskRecord record;
  record.task = {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
  record.boot = in.at("boot");
  record.device_kind = in.at("device").at("kind");
  record.device_index = in.at("device").at("index");
  record.more_devices = in.at("device").value("more", record.more_devices);
  record.pid = in.at("pid");
  record.leased = in.value("leased", false);
  record.forgotten = in.at("forgotten");
  record.traced = in.value("traced", false);
  if (in.contains("outputs")) {
    record.outputs = in.at("outputs").at("globs").get<std::vector<std::string>>();
    record.working_folder = in.at("outputs").at("below");
    record.collected = in.at("outputs").at("collected");
  }
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    record.delivered[i] = in.at("delivered").value(std::string(to_string(kStreams[i])), std::int64_t{0});
  if (in.contains("kill_by_ms")) record.kill_by = from_millis(in.at("kill_by_ms").get<std::int64_t>());
  if (in.contains("exit")) record.exit = task_exit_from_json(in.at("exit"));
  return record;
}

}  // namespace

std::size_t stream_index(StreamKind stream) {
  return static_cast<std::size_t>(std::find(kStreams.begin(), kStreams.end(), stream) - kStreams.begin());
}

TaskFolder::TaskFolder(const fs::path& home, TaskId task)
    : home_(home),
      task_(task),
      path_(jobs_folder(home) / to_string(task.attempt.job) / std::to_string(task.attempt.number) /
            std::to_string(task.rank)) {}

fs::path TaskFolder::stream_path(StreamKind stream) const {
  const std::string name(to_string(stream));
  return path_ / (is_output(stream) ? name : name + ".jsonl");
}

void TaskFolder::create(const TaskRecord& record, const Launch& launch, const LaunchClock& clock) const {
  make_folders(path_);
  nlohmann::json told = to_json(launch);
  add_clock(clock, told);
  write_private(launch_path(), told.dump(1) + "\n");
  write_record(record);
}

// As write_file_atomic, but without the sync of the folder: a power cut that loses the record also ends its
// process, and starts wait for this function.
void TaskFolder::write_record(const TaskRecord& record) const {
  const fs::path path = path_ / kRecordFile;
  const fs::path draft = path_ / "task.json.tmp";
  if (fs::is_directory(path)) fs::remove_all(path);  // the program's doing
  const Fd fd = open_file(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  write_all(fd.get(), dump(json_of(record)) + "\n", draft);
  if (::fsync(fd.get()) != 0 || ::rename(draft.c_str(), path.c_str()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

TaskRecord TaskFolder::read_record() const {
  const fs::path path = path_ / kRecordFile;
  try {
    TaskRecord record = record_from(json::parse(read_file(path)));
    if (record.task != task_) throw std::invalid_argument("it is of task " + to_string(record.task));
    return record;
  } catch (const json::exception& error) {
    throw std::runtime_error(path.string() + " is damaged; move its folder away: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path.string() + " does not belong here; move its folder away: " + error.what());
  }
}

std::optional<Launch> TaskFolder::read_launch() const {
  try {
    const std::optional<std::string> text = read_regular_file(launch_path(), kLongestLaunch);
    if (!text) return std::nullopt;
    Launch launch = launch_from_json(json::parse(*text));
    return launch.task == task_ ? std::optional(std::move(launch)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<TaskExit> TaskFolder::read_exit() const {
  const fs::path path = path_ / shim::kExitFile;
  if (!fs::exists(path)) return std::nullopt;
  return task_exit_from_json(json::parse(read_file(path)));
}

std::int64_t TaskFolder::stream_size(StreamKind stream) const {
  std::error_code missing;
  const auto size = fs::file_size(stream_path(stream), missing);
  return missing ? 0 : static_cast<std::int64_t>(size);
}

void TaskFolder::tell(const std::string& message, const std::string& level) const {
  const fs::path path = stream_path(StreamKind::events);
  // The program may have put a pipe, a link or a folder in its place; then the note is lost, and nothing
  // else.
  const Fd events(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat file {};
  if (!events || ::fstat(events.get(), &file) != 0 || !S_ISREG(file.st_mode))
    return spdlog::warn("{} is no file any more; not told there: {}", path.string(), message);
  const WorkerEvent note{SystemClock().now(), NoteEvent{level, message}};
  const std::string before = stream_size(StreamKind::events) > 0 ? "\n" : "";  // the program may owe it
  write_all(events.get(), before + dump(to_json(note)) + "\n", path);
}

void TaskFolder::empty_streams() const {
  for (const StreamKind stream : kStreams) {
    std::error_code missing;
    fs::resize_file(stream_path(stream), 0, missing);
  }
}

void TaskFolder::remove() const {
  for (const fs::path& entry : entries(path_))
    if (entry.filename() != kRecordFile) fs::remove_all(entry);
  fs::remove_all(path_);
  for (fs::path parent = path_.parent_path(); parent != jobs_folder(home_); parent = parent.parent_path()) {
    std::error_code not_empty;
    if (!fs::remove(parent, not_empty)) break;
  }
}

std::optional<TaskId> task_named_by(const fs::path& folder) {
  const fs::path attempt_path = folder.parent_path();
  const fs::path job_path = attempt_path.parent_path();
  const auto job = number_in<std::int64_t>(job_path.filename());
  const auto attempt = number_in<std::int32_t>(attempt_path.filename());
  const auto rank = number_in<std::int32_t>(folder.filename());
  if (!job || !attempt || !rank || job_path.parent_path().filename() != kJobsFolder) return std::nullopt;
  return TaskId{{{*job}, *attempt}, *rank};
}

std::vector<TaskId> find_tasks(const fs::path& home, std::vector<fs::path>& strange) {
  std::vector<std::pair<fs::file_time_type, TaskId>> found;
  if (!fs::exists(jobs_folder(home))) return {};
  for (const auto& [job, job_path] : numbered<std::int64_t>(jobs_folder(home), strange))
    for (const auto& [attempt, attempt_path] : numbered<std::int32_t>(job_path, strange))
      for (const auto& [rank, path] : numbered<std::int32_t>(attempt_path, strange)) {
        if (fs::exists(path / kRecordFile))
          found.push_back({fs::last_write_time(path / kRecordFile), {{{job}, attempt}, rank}});
        else
          strange.push_back(path);
      }
  std::ranges::sort(found);
  std::vector<TaskId> tasks;
  for (const auto& [written, task] : found) tasks.push_back(task);
  return tasks;
}

}  // namespace podium
