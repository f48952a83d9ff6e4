// The models of a server by name, and how one takes another's place: the new one is loaded and warmed up
// beside the old, which answers what it has taken and then goes. On the server's thread, but for loading and
// destroying models, which have a thread of their own.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/serve/served_model.h"

namespace podium {

struct ModelPlace {
  std::string name;
  std::filesystem::path folder;
};

class ModelRegistry {
 public:
  ModelRegistry(const std::vector<ModelPlace>& places, LoadModel load, const ServeRules& rules);
  ~ModelRegistry();  // waits for what is at work; nobody holds a model any more

  struct Entry {
    std::filesystem::path folder;        // that was asked for last
    std::shared_ptr<ServedModel> model;  // none: not loaded yet
    std::shared_ptr<ServeMeter> meter;   // of the name, whichever model has it
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;  // nullptr: there is none
  std::string names() const;                         // "a, b"
  bool ready() const;                                // every model can answer
  bool at_work() const;                              // one is loaded or destroyed, or computes

  // Loads what lies in `folder` under a name that there is. Loads go one after another. Throws BadData or
  // Failure, and then what was there stays.
  boost::asio::awaitable<void> load(std::string name, std::filesystem::path folder);
  // All of them, from the folders that were asked for last. Throws what the first that fails does, once the
  // others are loaded, and logs what else fails.
  boost::asio::awaitable<void> load_all();

 private:
  std::shared_ptr<ServedModel> make(const std::filesystem::path& folder, std::shared_ptr<ServeMeter> meter);

  LoadModel load_;
  const ServeRules rules_;
  std::map<std::string, Entry> entries_;
  std::atomic<int> changes_ = 0;  // loads and destructions that have not ended
  boost::asio::thread_pool loader_{1};
};

}  // namespace podium
