#include "coordinator/api/static_files.h"

#include <sys/stat.h>

#include <array>

#include "common/base/file.h"
#include "common/net/gzip.h"
#include "common/net/problem.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{
    {{".html", "text/html; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".json", "application/json"},
     {".map", "application/json"},
     {".svg", "image/svg+xml"},
     {".png", "image/png"},
     {".ico", "image/x-icon"},
     {".webp", "image/webp"},
     {".woff2", "font/woff2"},
     {".txt", "text/plain; charset=utf-8"},
     {".webmanifest", "application/manifest+json"}}};

constexpr std::string_view kContentSecurityPolicy =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  for (const auto& [suffix, type] : kTypes)
    if (suffix == extension) return type;
  return "application/octet-stream";
}

// The file that the path names; "" where it names none that may be served.
fs::path find_file(const fs::path& root, const std::vector<std::string>& segments) {
  fs::path file = root;
  for (const std::string& segment : segments) {
    if (segment.starts_with('.') || segment.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
      return {};
    if (!segment.empty()) file /= segment;
  }
  if (file == root) file /= "index.html";
  std::error_code unreadable;
  return fs::is_regular_file(file, unreadable) && is_inside(root, file) ? file : fs::path();
}

// Changes whenever the file does: its size and the time of its last change.
std::string etag_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot stat " + file.string());
  return "\"" + std::to_string(status.st_size) + "-" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec) + "\"";
}

ServerReply file_reply(const fs::path& root, const fs::path& file, const ServerRequest& request) {
  ServerReply reply;
  // The build puts a hash of the content into the names under assets/.
  const bool hashed = is_inside(root / "assets", file);
  reply.headers.set("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  reply.headers.set("Content-Security-Policy", std::string(kContentSecurityPolicy));
  reply.headers.set("Referrer-Policy", "no-referrer");
  reply.headers.set("Vary", "Accept-Encoding");
  fs::path packed = file;
  packed += ".gz";
  const bool use_packed =
      accepts_gzip(request.headers) && fs::is_regular_file(packed) && is_inside(root, packed);
  const fs::path& served = use_packed ? packed : file;
  const std::string etag = etag_of(served);
  reply.headers.set("ETag", etag);
  if (request.headers.get("If-None-Match").find(etag) != std::string::npos) {
    reply.status = 304;
    return reply;
  }
  reply.headers.set("Content-Type", std::string(type_of(file)));
  if (use_packed) reply.headers.set("Content-Encoding", "gzip");
  reply.body = read_file(served);
  return reply;
}

}  // namespace

awaitable<ServerReply> answer_file(Api& api, ServerRequest request, std::vector<std::string> segments) {
  const fs::path root = api.options.web;
  if (root.empty())
    co_return problem(404, "this coordinator serves no dashboard; start it with --web FOLDER", request.id);
  const auto work = [root, request = std::move(request), segments = std::move(segments)] {
    const fs::path file = find_file(root, segments);
    if (file.empty()) return problem(404, "there is no " + request.target.substr(0, 200), request.id);
    return file_reply(root, file, request);
  };
  co_return co_await api.pool.run(work);
}

}  // namespace podium
