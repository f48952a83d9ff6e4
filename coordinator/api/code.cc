// The code of jobs: packed folders, named by their sha256. A person posts one before the spec that needs it,
// agents fetch it.
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/net/code_snapshot.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/store/code_files.h"

namespace podium {
namespace {

struct Posted {
  std::string sha256;
  bool has_room = true;
  std::string fault;  // of what was posted
};

Posted keep(Reader& reader, const std::filesystem::path& folder, const std::string& packed) {
  Posted kept{sha256_of(packed)};
  try {
    read_code(packed);
  } catch (const std::invalid_argument& error) {
    kept.fault = error.what();
    return kept;
  }
  kept.has_room = keep_code(folder, kept.sha256, packed, [&] { return reader.code_in_use(); });
  return kept;
}

}  // namespace

awaitable<ServerReply> post_code(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/zstd", kMostPackedCode)) co_return std::move(*refusal);
  if (const auto refusal = api.store.refusal()) co_return problem({*refusal}, call.request.id);
  const std::size_t bytes = call.request.body.size();
  auto work = [folder = api.options.code, body = std::move(call.request.body)](Reader& reader) {
    return keep(reader, folder, body);
  };
  const Posted kept = co_await api.streams.read(std::move(work));
  if (!kept.fault.empty())
    co_return problem(
        {Error{ErrorCode::invalid, kept.fault + "; post a folder as \"podium submit\" packs it", ""}},
        call.request.id);
  if (!kept.has_room)
    co_return problem(507,
                      "the code of living jobs takes all the room that there is for code; submit again when "
                      "some have ended",
                      call.request.id);
  co_return json_reply(201, {{"sha256", kept.sha256}, {"bytes", bytes}});
}

awaitable<ServerReply> get_code(Api& api, Call call) {
  const std::string sha256 = call.path[0];
  if (!is_sha256(sha256) || !has_code(api.options.code, sha256)) co_return no_such(call, "code", sha256);
  const auto read = [path = api.options.code / sha256] { return read_file(path); };
  ServerReply reply;
  reply.body = co_await api.streams.run(read);
  reply.headers.set("Content-Type", "application/zstd");
  co_return reply;
}

}  // namespace podium
