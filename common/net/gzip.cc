#include "common/net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/base/check.h"

namespace podium {
namespace {

constexpr int kFast = 1;              // JSON shrinks to a tenth even so
constexpr int kWindowBits = 15 + 16;  // 16: with the header of gzip
constexpr int kMemoryLevel = 8;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Of "gzip;q=0.5": 0.5; 1 where it has none.
double weight_of(std::string_view coding) {
  const std::size_t at = coding.find("q=");
  if (at == std::string_view::npos) return 1;
  double weight = 1;
  std::from_chars(coding.data() + at + 2, coding.data() + coding.size(), weight);
  return weight;
}

}  // namespace

bool accepts_gzip(const Headers& headers) {
  const std::string list = headers.get("Accept-Encoding");
  double gzip = -1, any = -1;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view coding = std::string_view(list).substr(at, end - at);
    const std::string_view name = trimmed(coding.substr(0, coding.find(';')));
    if (equal_ignoring_case(name, "gzip")) gzip = weight_of(coding);
    if (name == "*") any = weight_of(coding);
    at = end + 1;
  }
  return gzip >= 0 ? gzip > 0 : any > 0;
}

std::string gzip_compress(std::string_view plain) {
  PODIUM_CHECK(plain.size() < std::numeric_limits<uInt>::max() / 2, "a body that is packed at once");
  z_stream stream{};
  const int begun = deflateInit2(&stream, kFast, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY);
  PODIUM_CHECK(begun == Z_OK, "zlib has memory and knows its own parameters");
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));  // which zlib only reads
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  PODIUM_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflateBound is enough");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace podium
