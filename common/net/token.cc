#include "common/net/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "common/base/check.h"
#include "common/base/file.h"

namespace podium {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

std::string hex_of(std::string_view raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(raw.size() * 2);
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size()))
    throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
  return hex_of(raw);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string mac(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  PODIUM_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
                    reinterpret_cast<unsigned char*>(mac.data()), &size),
               "OpenSSL cannot compute an HMAC");
  return hex_of(std::string_view(mac).substr(0, size));
}

std::string read_token(const std::filesystem::path& file) {
  std::string token = read_file(file);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  return token;
}

}  // namespace podium
