#include "worker/serve/model_registry.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "common/base/check.h"
#include "common/base/logging.h"
#include "common/net/run_on.h"

namespace podium {
namespace {

class Change {
 public:
  explicit Change(std::atomic<int>& open) : open_(open) { ++open_; }
  Change(const Change&) = delete;
  ~Change() { --open_; }

 private:
  std::atomic<int>& open_;
};

}  // namespace

ModelRegistry::ModelRegistry(const std::vector<ModelPlace>& places, LoadModel load, const ServeRules& rules)
    : load_(std::move(load)), rules_(rules) {
  for (const ModelPlace& place : places)
    entries_[place.name] = {place.folder, nullptr, std::make_shared<ServeMeter>()};
}

ModelRegistry::~ModelRegistry() {
  entries_.clear();
  loader_.join();
}

const ModelRegistry::Entry* ModelRegistry::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string ModelRegistry::names() const {
  std::string text;
  for (const auto& [name, entry] : entries_) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool ModelRegistry::ready() const {
  for (const auto& [name, entry] : entries_)
    if (!entry.model) return false;
  return true;
}

bool ModelRegistry::at_work() const {
  return changes_ > 0 || std::ranges::any_of(entries_, [](const auto& named) {
           return named.second.model && named.second.model->is_computing();
         });
}

// Whoever drops it last, it is destroyed by the loader, for that may have to wait for a batch.
std::shared_ptr<ServedModel> ModelRegistry::make(const std::filesystem::path& folder,
                                                 std::shared_ptr<ServeMeter> meter) {
  auto made = std::make_unique<ServedModel>(folder, load_(folder), rules_, std::move(meter));
  return {made.release(), [this](ServedModel* model) {
            boost::asio::post(loader_,
                              [model, change = std::make_unique<Change>(changes_)] { delete model; });
          }};
}

boost::asio::awaitable<void> ModelRegistry::load(std::string name, std::filesystem::path folder) {
  Entry& entry = entries_.at(name);
  const Change change(changes_);
  const auto work = [this, folder, meter = entry.meter] { return make(folder, meter); };
  std::shared_ptr<ServedModel> made = co_await run_on(loader_, work);
  entry.folder = folder;
  entry.meter->add_load();
  std::swap(entry.model, made);
  spdlog::info("{} answers from {}", name, folder.string());
}

boost::asio::awaitable<void> ModelRegistry::load_all() {
  std::exception_ptr failed;
  for (const auto& [name, entry] : entries_) {
    try {
      const std::filesystem::path folder = entry.folder;  // which a client may have named since the last load
      co_await load(name, folder);
    } catch (const std::exception& error) {
      if (failed) spdlog::error("{}", error.what());
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace podium
