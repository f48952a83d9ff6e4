// A map of bounded size: values are made on demand, and the least recently used one is dropped first. For
// values that can be made again at some cost. Use it from one thread at a time.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "common/base/check.h"

namespace podium {

template <class Key, class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t most) : most_(most) {
    PODIUM_CHECK(most > 0, "what keeps nothing has nothing to return");
  }

  // The value of `key`, made from make()'s result where there is none. Shared, because the caller may request
  // so many others meanwhile that the map drops this one.
  template <class Make>
  std::shared_ptr<Value> get(const Key& key, const Make& make) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(key, std::shared_ptr<Value>(make()));
    places_.emplace(key, entries_.begin());
    if (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, std::shared_ptr<Value>>>;  // most recently used first

  const std::size_t most_;
  Entries entries_;
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace podium
