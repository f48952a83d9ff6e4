#include "coordinator/api/file_reply.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/net/url.h"
#include "coordinator/mlflow/byte_range.h"

namespace podium {
namespace {

constexpr std::size_t kFilePiece = 256 * 1024;

// For whoever saves it: the last part of its path, in ASCII and as it is (RFC 6266).
std::string disposition_of(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '%' ? '_' : c;
  return "attachment; filename=\"" + plain + "\"; filename*=UTF-8''" + encode_component(name);
}

std::string read_piece(const TreeFile& file, std::int64_t from, std::size_t bytes) {
  std::string piece(bytes, '\0');
  const ssize_t count = ::pread(file.fd.get(), piece.data(), piece.size(), from);
  if (count < 0)
    throw std::system_error(errno, std::generic_category(), "cannot read a file that is asked for");
  piece.resize(static_cast<std::size_t>(count));
  return piece;
}

void stream(Api& api, std::shared_ptr<TreeFile> file, mlflow::ByteRange range, ServerReply& reply) {
  reply.headers.set("Content-Length", std::to_string(range.end - range.from));
  reply.next_piece = [&api, file, range]() mutable -> awaitable<std::optional<std::string>> {
    if (range.from == range.end) co_return std::nullopt;
    const auto bytes = std::min<std::int64_t>(range.end - range.from, kFilePiece);
    const auto read = [file, from = range.from, bytes] {
      return read_piece(*file, from, static_cast<std::size_t>(bytes));
    };
    std::string piece = co_await api.files.run(read);
    range.from += std::ssize(piece);
    if (piece.empty()) co_return std::nullopt;
    co_return piece;
  };
}

}  // namespace

ServerReply file_reply(Api& api, const ServerRequest& request, const std::string& name, TreeFile opened,
                       ServerReply too_far) {
  const auto file = std::make_shared<TreeFile>(std::move(opened));
  const std::string etag = "\"" + file->version + "\"";
  ServerReply reply;
  reply.headers.set("Content-Type", "application/octet-stream");
  reply.headers.set("Content-Disposition", disposition_of(name));
  reply.headers.set("Cache-Control", "no-store");
  reply.headers.set("Accept-Ranges", "bytes");
  reply.headers.set("ETag", etag);
  const std::string* same = request.headers.find("If-Range");
  const bool wanted = !same || *same == etag;
  const auto asked = mlflow::range_of(wanted ? request.headers.get("Range") : "", file->bytes);
  const std::string size = "/" + std::to_string(file->bytes);
  if (asked.unsatisfiable) {
    too_far.status = 416;
    too_far.headers.set("Content-Range", "bytes *" + size);
    return too_far;
  }
  if (const auto part = asked.part) {
    reply.status = 206;
    reply.headers.set("Content-Range",
                      "bytes " + std::to_string(part->from) + "-" + std::to_string(part->end - 1) + size);
  }
  stream(api, file, asked.part.value_or(mlflow::ByteRange{0, file->bytes}), reply);
  return reply;
}

}  // namespace podium
