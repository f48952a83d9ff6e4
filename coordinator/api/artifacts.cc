#include "coordinator/api/artifacts.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/net/url.h"
#include "coordinator/api/guard.h"
#include "coordinator/api/reply.h"
#include "coordinator/mlflow/artifact_path.h"
#include "coordinator/mlflow/byte_range.h"
#include "coordinator/mlflow/error.h"

namespace podium {
namespace {

using mlflow::ArtifactFile;
using mlflow::ArtifactPath;
using nlohmann::json;

constexpr std::size_t kArtifactPiece = 256 * 1024;
constexpr std::size_t kArtifactsPrefix = 3;  // segments: api, 2.0, mlflow-artifacts

std::string joined_from(const std::vector<std::string>& segments, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < segments.size(); ++i) text += (i == first ? "" : "/") + segments[i];
  return text;
}

ServerReply no_such_artifact(const std::string& path) {
  return mlflow::refusal({mlflow::Code::resource_does_not_exist, "there is no artifact \"" + path + "\""});
}

ServerReply no_multipart() {
  return mlflow::refusal({mlflow::Code::not_implemented,
                          "Multipart upload is not supported for the current artifact repository"});
}

// For whoever saves it: the last part of its path, in ASCII and as it is (RFC 6266).
std::string disposition_of(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '%' ? '_' : c;
  return "attachment; filename=\"" + plain + "\"; filename*=UTF-8''" + encode_component(name);
}

std::string read_piece(const ArtifactFile& file, std::int64_t from, std::size_t bytes) {
  std::string piece(bytes, '\0');
  const ssize_t count = ::pread(file.fd.get(), piece.data(), piece.size(), from);
  if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot read an artifact");
  piece.resize(static_cast<std::size_t>(count));
  return piece;
}

void stream(Api& api, std::shared_ptr<ArtifactFile> file, mlflow::ByteRange range, ServerReply& reply) {
  reply.headers.set("Content-Length", std::to_string(range.end - range.from));
  reply.next_piece = [&api, file, range]() mutable -> awaitable<std::optional<std::string>> {
    if (range.from == range.end) co_return std::nullopt;
    const auto bytes = std::min<std::int64_t>(range.end - range.from, kArtifactPiece);
    const auto read = [file, from = range.from, bytes] {
      return read_piece(*file, from, static_cast<std::size_t>(bytes));
    };
    std::string piece = co_await api.files.run(read);
    range.from += std::ssize(piece);
    if (piece.empty()) co_return std::nullopt;
    co_return piece;
  };
}

ServerReply download(Api& api, const ServerRequest& request, const std::string& name, ArtifactFile opened) {
  const auto file = std::make_shared<ArtifactFile>(std::move(opened));
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
    reply = mlflow::refusal({mlflow::Code::bad_request, "the range begins after the end of the artifact"});
    reply.status = 416;
    reply.headers.set("Content-Range", "bytes *" + size);
    return reply;
  }
  if (const auto part = asked.part) {
    reply.status = 206;
    reply.headers.set("Content-Range",
                      "bytes " + std::to_string(part->from) + "-" + std::to_string(part->end - 1) + size);
  }
  stream(api, file, asked.part.value_or(mlflow::ByteRange{0, file->bytes}), reply);
  return reply;
}

awaitable<ServerReply> get_artifact(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto open = [&api, path] { return api.artifacts.open(path.run, path.parts); };
  std::optional<ArtifactFile> file = co_await api.files.run(open);
  if (!file) co_return no_such_artifact(call.path[0]);
  co_return download(api, call.request, path.parts.back(), std::move(*file));
}

awaitable<ServerReply> get_artifacts(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto list = [&api, path] { return api.artifacts.list(path.run, path.parts); };
  const auto entries = co_await api.files.run(list);
  co_return json_reply(200, {{"files", files_json(entries, "")}});
}

// A run's folder can be deleted also where nothing is in it.
awaitable<ServerReply> delete_artifact(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto remove = [&api, path] { return api.artifacts.remove(path.run, path.parts); };
  const bool was_there = co_await api.files.run(remove);
  if (!was_there && !path.parts.empty()) co_return no_such_artifact(call.path[0]);
  co_return json_reply(200, json::object());
}

// Of `artifacts`, or of `artifacts/<path>`.
Resolved resolve_path(const Api& api, const ServerRequest& head, Target target, std::string path,
                      bool listed) {
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (!reads && (listed || (head.method != "PUT" && head.method != "DELETE")))
    return refused(problem(405, head.method + " is not possible here", head.id));
  if (auto refusal =
          refuse_tracking(api.options, reads ? Audience::read : Audience::user, TrackingScope::run, head))
    return refused(std::move(*refusal));
  const Result<ArtifactPath> parsed = mlflow::parse_artifact_path(path, api.options.cluster);
  if (!parsed) return refused(mlflow::refusal(mlflow::fault_of(parsed.errors())));
  if (auto refusal = refuse_run(api.options, parsed->run, head)) return refused(std::move(*refusal));
  Resolved resolved;
  resolved.path = {std::move(path)};
  resolved.target = std::move(target);
  if (head.method == "PUT")
    resolved.sink = artifact_sink;
  else
    resolved.answer = head.method == "DELETE" ? delete_artifact : listed ? get_artifacts : get_artifact;
  return resolved;
}

}  // namespace

json files_json(const std::vector<mlflow::ArtifactEntry>& entries, const std::string& folder) {
  json files = json::array();
  for (const auto& entry : entries) {
    json& file = files.emplace_back(
        json{{"path", (folder.empty() ? "" : folder + "/") + entry.name}, {"is_dir", entry.is_folder}});
    if (!entry.is_folder) file["file_size"] = entry.bytes;
  }
  return files;
}

bool is_of_artifacts(const std::vector<std::string>& segments) {
  return segments.size() >= kArtifactsPrefix && segments[0] == "api" && segments[1] == "2.0" &&
         segments[2] == "mlflow-artifacts";
}

Resolved resolve_artifacts(const Api& api, const ServerRequest& head, Target target) {
  const std::string below = joined_from(target.segments, kArtifactsPrefix);
  if (head.method == "POST" && below.starts_with("mpu/")) {
    if (auto refusal = refuse_tracking(api.options, Audience::user, TrackingScope::run, head))
      return refused(std::move(*refusal));
    return refused(no_multipart());
  }
  if (below == "artifacts" || below == "artifacts/") {
    const std::string path = Query(target.query).text("path").value_or("");
    return resolve_path(api, head, std::move(target), path, true);
  }
  constexpr std::string_view kFiles = "artifacts/";
  if (below.starts_with(kFiles))
    return resolve_path(api, head, std::move(target), below.substr(kFiles.size()), false);
  return refused(
      mlflow::refusal({mlflow::Code::endpoint_not_found, "there is no " + head.target.substr(0, 200)}));
}

}  // namespace podium
