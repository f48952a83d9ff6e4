// Bearer tokens and other secrets.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace podium {

// Takes time that depends on the lengths alone, so that the delay of an answer reveals nothing about the
// secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// `bytes` random bytes of the kernel, as hex.
std::string random_hex(std::size_t bytes);

// HMAC-SHA256 (RFC 2104) as lower-case hex.
std::string hmac_sha256(std::string_view key, std::string_view text);

// The file's content without trailing white space; may be "". Throws std::system_error.
std::string read_token(const std::filesystem::path& file);

}  // namespace podium
