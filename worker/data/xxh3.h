// XXH3-64 of bytes that come piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct XXH3_state_s;

namespace podium {

// What a file must still be when it is read again.
struct FileDigest {
  std::int64_t bytes = 0;
  std::string xxh3;  // XXH3-64 of the content, 16 hexadecimal digits

  bool operator==(const FileDigest&) const = default;
};

class Xxh3 {
 public:
  Xxh3();
  void add(std::span<const std::byte> bytes);
  FileDigest digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
  std::int64_t bytes_ = 0;
};

}  // namespace podium
