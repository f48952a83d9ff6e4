// The place in the file of each value of a document, by JSON pointer, so that every problem can name its
// line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace podium {

// Both count from 1; a column is a character, as editors show it.
struct Place {
  int line = 1;
  int column = 1;

  auto operator<=>(const Place&) const = default;
};

// The place of values that the command line overrides.
constexpr Place kBesideTheFile{0, 0};

class SourceMap {
 public:
  struct Entry {
    Place key;  // of a mapping's key; of the value itself in a list and at the root
    Place value;
  };

  void add(const std::string& pointer, Entry entry) { entries_.emplace(pointer, entry); }
  // Of a value that takes the place of the file's.
  void set(const std::string& pointer, Entry entry) {
    entries_.insert_or_assign(pointer, entry);
    std::erase_if(written_,
                  [&](const auto& of) { return of.first == pointer || of.first.starts_with(pointer + "/"); });
  }

  // How the file writes a plain value that JSON writes otherwise, such as 0x10.
  void set_written(const std::string& pointer, std::string text) {
    written_.insert_or_assign(pointer, std::move(text));
  }
  const std::string* written(const std::string& pointer) const {
    const auto found = written_.find(pointer);
    return found == written_.end() ? nullptr : &found->second;
  }

  // Of the value at `pointer`, or of the nearest value around it.
  Place value(std::string_view pointer) const { return find(pointer).value; }
  Place key(std::string_view pointer) const { return find(pointer).key; }

 private:
  Entry find(std::string_view pointer) const;

  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::string> written_;
};

// "a/b" -> "a~1b": one step of a JSON pointer.
std::string pointer_step(std::string_view key);

}  // namespace podium
