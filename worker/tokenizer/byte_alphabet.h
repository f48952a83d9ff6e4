// GPT-2's printable alphabet for bytes: a character for each of the 256, so that vocab.json and merges.txt
// can hold any bytes as text. 33-126, 161-172 and 174-255 stand for themselves, the others are U+0100
// onwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podium {

std::string to_byte_alphabet(std::string_view bytes);

// Nothing where `text` (UTF-8) holds a character outside of the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace podium
