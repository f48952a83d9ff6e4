#include "common/net/token.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "common/base/file.h"

namespace podium {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size()))
    throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes * 2);
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::string read_token(const std::filesystem::path& file) {
  std::string token = read_file(file);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  return token;
}

}  // namespace podium
