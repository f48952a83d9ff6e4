#include "agent/staging/input_store.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "agent/staging/source_tree.h"
#include "common/base/human_bytes.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kData[] = "data";
constexpr char kEntryFile[] = "entry.json";
constexpr int kEntryVersion = 1;
constexpr auto kLookAgain = std::chrono::seconds(1);
constexpr std::int64_t kLeftFree = 512'000'000;  // of the disk, for others; or a fifth of a smaller one

StoreTime store_now() { return std::chrono::system_clock::now(); }

StoreTime modified_at(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return StoreTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                   std::chrono::nanoseconds(status.st_mtim.tv_nsec));
}

void touch(const fs::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

// Folders of staged trees cannot be written.
void remove_tree(const fs::path& path) {
  std::error_code gone;
  if (fs::is_directory(fs::symlink_status(path, gone))) {
    fs::permissions(path, fs::perms::owner_all, gone);
    for (const auto& entry : fs::directory_iterator(path, gone))
      if (entry.is_directory() && !entry.is_symlink()) remove_tree(entry.path());
  }
  fs::remove_all(path, gone);
}

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  return paths;
}

// What is in it may be of another version, or half of what a disk kept.
std::optional<json> read_entry(const fs::path& folder) {
  try {
    json entry = json::parse(read_file(folder / kEntryFile));
    const bool usable = entry.at("version") == kEntryVersion && entry.at("bytes").is_number_integer() &&
                        entry.at("digest").is_string() && fs::exists(folder / kData);
    return usable ? std::optional(std::move(entry)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Fd take_store(const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path path = folder / "lock";
  Fd lock = open_file(path, O_RDWR | O_CREAT, 0600);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "another agent has the inputs in " + folder.string() +
                                "; give one of the two another folder with --inputs: cannot lock " +
                                path.string());
  return lock;
}

}  // namespace

Incoming::~Incoming() {
  if (!store_) return;
  std::error_code missing;
  const auto left = fs::file_size(data(), missing);
  if (missing) remove_tree(data().parent_path());  // a part of a folder, or nothing
  const std::lock_guard lock(store_->mutex_);
  if (!missing) store_->idle_[key_] = static_cast<std::int64_t>(left);
  store_->incoming_.erase(key_);
  store_->changed_.notify_all();
}

fs::path Incoming::data() const { return store_->incoming_folder_ / key_ / kData; }

void Incoming::claim(std::int64_t bytes) {
  store_->claim(key_, bytes);
  store_->remove_dropped();
}

void Incoming::discard() {
  remove_tree(data().parent_path());
  fs::create_directories(data().parent_path());
}

fs::path Incoming::place(const std::string& from, StagingProgress& progress, const std::stop_token& stop) {
  const std::vector<SourceEntry> content = scan_source(data(), progress, stop);
  const json entry{{"version", kEntryVersion},
                   {"from", from},
                   {"bytes", bytes_of(content)},
                   {"digest", digest_of(content, "")}};
  const fs::path incoming = data().parent_path();
  write_file_atomic(incoming / kEntryFile, entry.dump(1) + "\n", 0600);
  const fs::path placed = store_->entry_folder(key_);
  {
    const std::lock_guard lock(store_->mutex_);
    fs::rename(incoming, placed);
    store_->entries_[key_] = {bytes_of(content), store_now()};
  }
  sync_folder(store_->entries_folder_);
  return placed / kData;
}

InputStore::InputStore(fs::path folder, StoreLimits limits, Holds holds)
    : folder_(std::move(folder)),
      entries_folder_(folder_ / "entries"),
      incoming_folder_(folder_ / "incoming"),
      dropped_folder_(folder_ / "dropped"),
      limits_(limits),
      lock_(take_store(folder_)),
      holds_(std::move(holds)) {
  fs::permissions(folder_, fs::perms::owner_all);
  for (const fs::path& made : {entries_folder_, incoming_folder_, dropped_folder_})
    fs::create_directories(made);
  load();
}

void InputStore::load() {
  remove_dropped();
  for (const fs::path& path : paths_in(incoming_folder_)) {
    const bool goes_on = fs::is_regular_file(path / kData) && !fs::exists(path / kEntryFile);
    const bool aged = store_now() - modified_at(path / kData) > limits_.keep;
    if (goes_on && !aged)
      idle_[path.filename()] = static_cast<std::int64_t>(fs::file_size(path / kData));
    else
      remove_tree(path);
  }
  for (const fs::path& path : paths_in(entries_folder_)) {
    const std::optional<json> entry = read_entry(path);
    if (entry)
      entries_[path.filename()] = {entry->at("bytes"), modified_at(path / kEntryFile)};
    else
      remove_tree(path);
  }
}

std::string InputStore::key_of(const fs::path& data) {
  return data.filename() == kData ? data.parent_path().filename().string() : "";
}

bool InputStore::is_held(const std::string& key) const {
  return std::ranges::any_of(holds_, [&](const auto& hold) { return hold.second.contains(key); });
}

std::vector<StoredInput> InputStore::stored() const {
  std::vector<StoredInput> all;
  for (const auto& [key, entry] : entries_) all.push_back({key, entry.bytes, entry.used, is_held(key)});
  return all;
}

bool InputStore::is_sound(const std::string& key, StagingProgress& progress,
                          const std::stop_token& stop) const {
  const std::optional<json> entry = read_entry(entry_folder(key));
  if (!entry) return false;
  try {
    return digest_of(scan_source(entry_folder(key) / kData, progress, stop), "") == entry->at("digest");
  } catch (const StagingFailure&) {
    return false;
  }
}

// Whoever waits for another that hangs hangs, too.
void InputStore::wait_for_turn(std::unique_lock<std::mutex>& lock, const std::string& key,
                               StagingProgress& progress, const std::stop_token& stop) {
  std::int64_t steps = 0;
  while (true) {
    const bool free = changed_.wait_for(lock, stop, kLookAgain, [&] { return !incoming_.contains(key); });
    if (stop.stop_requested()) throw StagingStopped();
    if (free) return;
    if (std::exchange(steps, incoming_.at(key).progress->steps) != steps) ++progress.steps;
  }
}

std::variant<fs::path, Incoming> InputStore::take(const std::string& key, const std::string& holder,
                                                  StagingProgress& progress, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wait_for_turn(lock, key, progress, stop);
  const bool is_here = entries_.contains(key);
  const bool shared = is_held(key);
  holds_[holder].insert(key);
  incoming_[key] = {0, &progress};  // nobody else looks at it meanwhile
  idle_.erase(key);
  lock.unlock();
  Incoming incoming(*this, key);
  fs::create_directories(incoming.data().parent_path());
  if (!is_here) return incoming;
  if (is_sound(key, progress, stop)) {
    touch(entry_folder(key) / kEntryFile);
    lock.lock();
    entries_[key].used = store_now();
    lock.unlock();
    return entry_folder(key) / kData;
  }
  if (shared)
    throw StagingFailure(ExitCause::not_started,
                         "a program has changed " + entry_folder(key).string() +
                             ", which others here still use; inputs are to be read only");
  spdlog::warn("{} is not as it was staged; it is staged anew", entry_folder(key).string());
  lock.lock();
  drop({key});
  lock.unlock();
  remove_dropped();
  return incoming;
}

std::int64_t InputStore::incoming_beside(const std::string& key) const {
  std::int64_t bytes = 0;
  for (const auto& [another, claim] : incoming_) bytes += another == key ? 0 : claim.bytes;
  for (const auto& [another, left] : idle_) bytes += another == key ? 0 : left;
  return bytes;
}

// No more than its disk has room for, beside what is to stay free: what is here may go, and of what is
// claimed a part is here.
StoreLimits InputStore::limits_now(const std::string& key) const {
  const fs::space_info disk = fs::space(folder_);
  std::int64_t room = static_cast<std::int64_t>(disk.available) -
                      std::min(kLeftFree, static_cast<std::int64_t>(disk.capacity) / 5);
  for (const auto& [another, entry] : entries_) room += entry.bytes;
  for (const auto& [another, left] : idle_) room += left;
  for (const auto& [another, claim] : incoming_) {
    std::error_code folder;
    const auto here = fs::file_size(incoming_folder_ / another / kData, folder);
    if (!folder)
      room += static_cast<std::int64_t>(here);
    else if (another != key)
      room += claim.bytes / 2;  // of a folder it is not known
  }
  return {std::min(limits_.bytes, room), limits_.keep};
}

void InputStore::claim(const std::string& key, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limits_.bytes)
    throw StagingFailure(ExitCause::cannot_run, "it has " + human_bytes(bytes) + ", and this node keeps " +
                                                    human_bytes(limits_.bytes) +
                                                    " of inputs (its agent's --inputs-limit)");
  const StoreLimits limits = limits_now(key);
  const auto try_to_fit = [&] {
    const Room room = make_room(stored(), incoming_beside(key), bytes, limits, store_now());
    drop(room.drop);
    return room.fits;
  };
  if (!try_to_fit() && !(drop_idle() && try_to_fit()))
    throw StagingFailure(ExitCause::not_started, "there is no room for its " + human_bytes(bytes) + " in " +
                                                     folder_.string() + ", which may hold " +
                                                     human_bytes(std::max<std::int64_t>(0, limits.bytes)) +
                                                     " at present, beside what tasks here use");
  incoming_[key].bytes = bytes;
}

void InputStore::set_aside(const fs::path& folder) {
  fs::rename(folder, dropped_folder_ / std::to_string(dropped_++));
}

bool InputStore::drop_idle() {
  if (idle_.empty()) return false;
  for (const auto& [key, bytes] : idle_) set_aside(incoming_folder_ / key);
  idle_.clear();
  return true;
}

bool InputStore::drop_one() {
  {
    const std::lock_guard lock(mutex_);
    std::vector<StoredInput> all = stored();
    std::erase_if(all, &StoredInput::held);
    if (!all.empty())
      drop({std::ranges::min_element(all, {}, &StoredInput::used)->key});
    else if (!drop_idle())
      return false;
  }
  remove_dropped();
  return true;
}

void InputStore::drop(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    set_aside(entry_folder(key));
    entries_.erase(key);
    spdlog::info("the staged input {} goes, for room", key);
  }
}

void InputStore::remove_dropped() {
  for (const fs::path& path : paths_in(dropped_folder_)) remove_tree(path);
}

void InputStore::hold(const std::string& holder, const std::set<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  holds_[holder] = keys;
}

void InputStore::release(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  const auto found = holds_.find(holder);
  if (found == holds_.end()) return;
  for (const std::string& key : found->second)
    if (const auto entry = entries_.find(key); entry != entries_.end()) entry->second.used = store_now();
  holds_.erase(found);
}

}  // namespace podium
