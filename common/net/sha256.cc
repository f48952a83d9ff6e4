#include "common/net/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace podium {

class Sha256::Impl {
 public:
  Impl() : context(EVP_MD_CTX_new()) { begin(); }
  Impl(const Impl&) = delete;
  ~Impl() { EVP_MD_CTX_free(context); }
  void begin() {
    if (EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("the crypto library has no SHA-256");
  }

  EVP_MD_CTX* context;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()); }

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  EVP_DigestFinal_ex(impl_->context, digest.data(), nullptr);
  impl_->begin();
  std::string text;
  for (const unsigned char byte : digest)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace podium
