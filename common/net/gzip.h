// Compressed bodies for clients that accept gzip (RFC 1952).
#pragma once

#include <string>
#include <string_view>

#include "common/net/http_message.h"

namespace podium {

// Whether Accept-Encoding names gzip, or *, and does not give it a weight of 0.
bool accepts_gzip(const Headers& headers);

std::string gzip_compress(std::string_view plain);

}  // namespace podium
