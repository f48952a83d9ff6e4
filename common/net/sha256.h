// SHA-256, of bytes at once or as they come.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace podium {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(std::string_view bytes);
  std::string hex();  // of all bytes so far, in lower case; then begins anew

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

std::string sha256_of(std::string_view bytes);
bool is_sha256(std::string_view text);  // 64 lower-case hexadecimal digits

}  // namespace podium
