#include "agent/outputs/collect.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "agent/outputs/path_patterns.h"
#include "common/base/file.h"
#include "common/base/file_tree.h"
#include "common/base/human_bytes.h"
#include "common/base/sync_files.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopiedAtOnce = 1 << 20;
constexpr int kDeepest = 100;
constexpr std::int64_t kLeftFree = 1'000'000'000;  // of the shared folder's disk; or a tenth of a smaller one
constexpr int kOutputFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

[[noreturn]] void output_failure(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// An agent that leaves collects them when it is back.
void heed(const std::stop_token& stop) {
  if (stop.stop_requested())
    throw std::system_error(std::make_error_code(std::errc::operation_canceled), "the agent leaves");
}

struct FoundOutput {
  std::string path;  // below the working folder
  struct stat status {};
};

using OutputFolder = std::pair<dev_t, ino_t>;

OutputFolder number_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

// What JSON can name.
bool is_text(const std::string& path) {
  try {
    return !nlohmann::json(path).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// It was written since.
bool is_another(const struct stat& a, const struct stat& b) {
  return number_of(a) != number_of(b) || a.st_size != b.st_size || a.st_mtim.tv_sec != b.st_mtim.tv_sec ||
         a.st_mtim.tv_nsec != b.st_mtim.tv_nsec;
}

// By openat, name by name, so that no link leads elsewhere, whoever makes it meanwhile.
class OutputSearch {
 public:
  OutputSearch(const Collection& collection, const std::stop_token& stop)
      : collection_(collection), patterns_(collection.globs), stop_(stop) {
    struct stat status {};
    if (::stat(collection.task_folder.c_str(), &status) == 0) task_folder_ = number_of(status);
  }

  std::vector<FoundOutput> run() {
    Fd top(::open(collection_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!top && (errno == ENOENT || errno == ENOTDIR))
      throw OutputsRefused("its working folder " + collection_.folder.string() + " is gone");
    if (!top) output_failure("cannot open", collection_.folder);
    look_in(std::move(top), "", patterns_.top(), 0);
    std::ranges::sort(found_, {}, &FoundOutput::path);
    return std::move(found_);
  }

  std::int64_t left_out() const { return left_out_; }

 private:
  void look_in(Fd folder, const std::string& path, const PathPatterns::Place& place, int depth) {
    if (depth > kDeepest) throw OutputsRefused("its folders are nested more than 100 deep at " + path);
    struct stat status {};
    const bool is_tasks = ::fstat(folder.get(), &status) == 0 && task_folder_ == number_of(status);
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(folder.release()), ::closedir);
    if (!names) output_failure("cannot list", collection_.folder / path);
    while (const dirent* next = ::readdir(names.get())) {
      const std::string name = next->d_name;
      if (name == "." || name == "..") continue;
      if (is_tasks && is_agents(name)) continue;
      look_at(::dirfd(names.get()), name, path.empty() ? name : path + "/" + name,
              patterns_.below(place, name), depth);
    }
  }

  bool is_agents(const std::string& name) const {
    return std::ranges::any_of(collection_.left_out, [&](const std::string& own) {
      return name == own || name.starts_with(own + ".");
    });
  }

  void look_at(int folder, const std::string& name, const std::string& path, const PathPatterns::Place& place,
               int depth) {
    heed(stop_);
    if (++looked_at_ > collection_.limits.looked_at)
      throw OutputsRefused("its working folder holds more than " +
                           std::to_string(collection_.limits.looked_at) +
                           " files; name folders in outputs that hold fewer");
    if (!place.named && !place.leads_on()) return;
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;  // it went meanwhile
    if (S_ISDIR(status.st_mode)) {
      if (!place.leads_on()) return;
      Fd below(::openat(folder, name.c_str(), kOutputFolder));
      if (!below && errno != ENOENT) output_failure("cannot open", collection_.folder / path);
      if (below) look_in(std::move(below), path, place, depth + 1);
    } else if (place.named && S_ISREG(status.st_mode) && is_text(path)) {
      add({path, status});
    } else if (place.named) {
      ++left_out_;
    }
  }

  void add(FoundOutput output) {
    bytes_ += output.status.st_size;
    found_.push_back(std::move(output));
    const OutputLimits& limits = collection_.limits;
    if (std::ssize(found_) > limits.files)
      throw OutputsRefused("more than " + std::to_string(limits.files) +
                           " files are named; pack them into few before the program ends");
    if (bytes_ > limits.bytes)
      throw OutputsRefused("they have more than " + human_bytes(limits.bytes) +
                           ", which is this node's --outputs-limit");
  }

  const Collection& collection_;
  const PathPatterns patterns_;
  const std::stop_token& stop_;
  std::vector<FoundOutput> found_;
  std::optional<OutputFolder> task_folder_;
  std::int64_t looked_at_ = 0, bytes_ = 0, left_out_ = 0;
};

PathParts parts_of_output(const std::string& path) {
  PathParts parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void copy_output(const TreeFile& in, const FoundOutput& output, const fs::path& to,
                 const std::stop_token& stop) {
  fs::create_directories(to.parent_path());
  Fd out = open_file(to, O_WRONLY | O_CREAT | O_EXCL, (output.status.st_mode & S_IXUSR) != 0 ? 0755 : 0644);
  std::string piece(kCopiedAtOnce, '\0');
  for (std::int64_t left = output.status.st_size; left >= 0;) {
    heed(stop);
    const ssize_t count = ::read(in.fd.get(), piece.data(), piece.size());
    if (count < 0) output_failure("cannot read the output for", to);
    if (count == 0) break;
    left -= count;
    write_all(out.get(), {piece.data(), static_cast<std::size_t>(count)}, to);
  }
  if (::close(out.release()) != 0) output_failure("cannot write", to);  // network file systems tell it here
}

// Before it is full, for checkpoints of other jobs go there, too.
void require_room(const fs::path& to, std::int64_t bytes) {
  const fs::space_info disk = fs::space(to);
  const auto free = static_cast<std::int64_t>(disk.available);
  const std::int64_t left = std::min(kLeftFree, static_cast<std::int64_t>(disk.capacity) / 10);
  if (bytes <= free - left) return;
  throw std::system_error(
      std::make_error_code(std::errc::no_space_on_device),
      "they have " + human_bytes(bytes) + ", and of " + to.string() + " " + human_bytes(free) + " are free");
}

bool has_file(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) return true;
  return false;
}

// Of the attempts that have files those of the newest stay; one that left none takes nobody's place.
void drop_old_attempts(const fs::path& to) {
  std::vector<int> attempts;
  for (const auto& entry : fs::directory_iterator(to)) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= 0 && std::to_string(number) == name) attempts.push_back(number);
  }
  std::ranges::sort(attempts, std::greater<>());
  int with_files = 0;
  for (const int attempt : attempts) {
    const fs::path folder = to / std::to_string(attempt);
    if (!has_file(folder) || ++with_files <= kKeptOutputs) continue;
    const fs::path aside = to / (".old-" + std::to_string(attempt));
    fs::rename(folder, aside);
    fs::remove_all(aside);
  }
}

fs::path draft_of(const Collection& collection) {
  const TaskId task = collection.task;
  return collection.to / ("." + std::to_string(task.attempt.number) + "-" + std::to_string(task.rank));
}

fs::path place_of(const Collection& collection) {
  const TaskId task = collection.task;
  return collection.to / std::to_string(task.attempt.number) / std::to_string(task.rank);
}

// What an agent that was killed then has collected.
Collected count_in(const fs::path& place) {
  Collected collected;
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (!entry.is_regular_file()) continue;
    ++collected.files;
    collected.bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return collected;
}

// All of them as they were found: where one is another by then, it is tried again.
Collected copy_all(const Collection& collection, const std::vector<FoundOutput>& found,
                   const std::stop_token& stop) {
  const fs::path draft = draft_of(collection);
  fs::remove_all(draft);
  fs::create_directories(draft);
  Collected collected;
  for (const FoundOutput& output : found) collected.bytes += output.status.st_size;
  require_room(draft, collected.bytes);
  const fs::path folder = found.empty() ? fs::path() : fs::canonical(collection.folder);
  for (const FoundOutput& output : found) {
    const std::optional<TreeFile> in = open_below(folder, parts_of_output(output.path));
    if (in) copy_output(*in, output, draft / output.path, stop);
    struct stat now {};
    if (!in || ::fstat(in->fd.get(), &now) != 0 || is_another(now, output.status))
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                              output.path + " changes while it is collected");
    ++collected.files;
  }
  std::vector<fs::path> copies;
  for (const FoundOutput& output : found) copies.push_back(draft / output.path);
  sync_files(copies, [&stop] { heed(stop); });
  return collected;
}

}  // namespace

Collected collect_outputs(const Collection& collection, const std::stop_token& stop) {
  const fs::path place = place_of(collection);
  if (fs::exists(place)) return count_in(place);
  OutputSearch search(collection, stop);
  const std::vector<FoundOutput> found =
      collection.folder.empty() ? std::vector<FoundOutput>() : search.run();
  Collected collected;
  try {
    collected = copy_all(collection, found, stop);
    fs::create_directories(place.parent_path());
    fs::rename(draft_of(collection), place);
    sync_folder(place.parent_path());
    sync_folder(collection.to);
  } catch (const std::exception&) {
    std::error_code gone;
    fs::remove_all(draft_of(collection), gone);
    throw;
  }
  drop_old_attempts(collection.to);
  collected.left_out = search.left_out();
  return collected;
}

std::string describe_outputs(const Collection& collection, const Collected& collected) {
  const fs::path place = place_of(collection);
  std::string left_out;
  if (collected.left_out > 0)
    left_out = "; " + std::to_string(collected.left_out) + " links and the like are left out";
  if (collected.files == 0) return "no file is what its outputs name" + left_out;
  return std::to_string(collected.files) + " output(s), " + human_bytes(collected.bytes) + ", are in " +
         place.string() + left_out;
}

}  // namespace podium
