// The inputs of tasks that a node has staged, each once, by the key of its content. Thread-safe.
//
//   <folder>/lock            held by the agent that has the store
//   <folder>/entries/<key>/  data (the file or folder) and entry.json, whole or not there
//   <folder>/incoming/<key>/ data that is being staged; a download is gone on with after a restart
//   <folder>/dropped/        what is being deleted
//
// Nothing that a task holds is removed. Failures of the disk throw std::system_error naming the file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/staging/progress.h"
#include "agent/staging/room.h"
#include "common/base/file.h"

namespace podium {

class InputStore;

// The right to stage a key: nobody else stages it meanwhile.
class Incoming {
 public:
  Incoming(Incoming&& other) noexcept : store_(std::exchange(other.store_, nullptr)), key_(other.key_) {}
  ~Incoming();

  std::filesystem::path data() const;
  // Throws StagingFailure where the store, or its disk, has no room for so many bytes of it.
  void claim(std::int64_t bytes);
  void discard();  // what of it is here already
  // Makes it an entry, and returns the path of its data.
  std::filesystem::path place(const std::string& from, StagingProgress& progress,
                              const std::stop_token& stop);

 private:
  friend class InputStore;
  Incoming(InputStore& store, std::string key) : store_(&store), key_(std::move(key)) {}

  InputStore* store_;
  std::string key_;
};

class InputStore {
 public:
  using Holds = std::map<std::string, std::set<std::string>>;  // the keys of each holder

  // Makes the folder and takes its lock. Removes what an earlier agent has left unfinished, but for
  // downloads.
  InputStore(std::filesystem::path folder, StoreLimits limits, Holds holds = {});

  // The data of the key, or where that is not here, the right to stage it. `holder` holds it from now on.
  // Waits while it is being staged for another, and moves as that does.
  std::variant<std::filesystem::path, Incoming> take(const std::string& key, const std::string& holder,
                                                     StagingProgress& progress, const std::stop_token& stop);

  void hold(const std::string& holder, const std::set<std::string>& keys);
  void release(const std::string& holder);  // what it held counts as used until now

  // Of a full disk: removes what is likely needed least. False where nothing can go.
  bool drop_one();

  // The key of an entry by the path of its data; "" of another path.
  static std::string key_of(const std::filesystem::path& data);

 private:
  friend class Incoming;
  struct Entry {
    std::int64_t bytes = 0;
    StoreTime used{};
  };
  struct Claim {
    std::int64_t bytes = 0;
    const StagingProgress* progress = nullptr;  // of whoever stages it
  };

  void load();
  std::filesystem::path entry_folder(const std::string& key) const { return entries_folder_ / key; }
  void wait_for_turn(std::unique_lock<std::mutex>& lock, const std::string& key, StagingProgress& progress,
                     const std::stop_token& stop);
  bool is_sound(const std::string& key, StagingProgress& progress, const std::stop_token& stop) const;
  bool is_held(const std::string& key) const;
  std::vector<StoredInput> stored() const;
  void claim(const std::string& key, std::int64_t bytes);
  std::int64_t incoming_beside(const std::string& key) const;
  StoreLimits limits_now(const std::string& key) const;
  void set_aside(const std::filesystem::path& folder);
  bool drop_idle();                                 // downloads that nobody goes on with at present
  void drop(const std::vector<std::string>& keys);  // sets them aside, and
  void remove_dropped();                            // without the mutex, removes them

  const std::filesystem::path folder_, entries_folder_, incoming_folder_, dropped_folder_;
  const StoreLimits limits_;
  Fd lock_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable_any changed_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Claim> incoming_;     // what is being staged
  std::map<std::string, std::int64_t> idle_;  // bytes of downloads that were broken off
  Holds holds_;
  std::int64_t dropped_ = 0;
};

}  // namespace podium
