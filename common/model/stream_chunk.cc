#include "common/model/stream_chunk.h"

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<StreamKind, 4> kStreams{{{StreamKind::events, "events"},
                                             {StreamKind::console, "console"},
                                             {StreamKind::out, "stdout"},
                                             {StreamKind::err, "stderr"}}};

constexpr std::size_t kMostChunks = 10'000;  // an agent sends a few for each of its tasks
constexpr std::size_t kLongestHeader = 1024;

json header(TaskId task, StreamKind stream) {
  return {{"job", task.attempt.job.value},
          {"attempt", task.attempt.number},
          {"rank", task.rank},
          {"stream", to_string(stream)}};
}

TaskId task_from(const json& in) {
  return {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
}

Error malformed(std::size_t at, const std::string& what) {
  return {ErrorCode::invalid, "malformed stream chunk: " + what, "byte " + std::to_string(at)};
}

}  // namespace

std::string_view to_string(StreamKind stream) { return enum_name(kStreams, stream); }
StreamKind stream_kind_from(std::string_view text) { return enum_value(kStreams, text, "stream"); }

void append_chunk(std::string& body, const StreamChunk& chunk) {
  json line = header(chunk.task, chunk.stream);
  line["offset"] = chunk.offset;
  line["length"] = chunk.bytes.size();
  if (chunk.final) line["final"] = true;
  if (chunk.after_gap) line["after_gap"] = true;
  body += line.dump();
  body += '\n';
  body += chunk.bytes;
}

Result<std::vector<StreamChunk>> parse_chunks(std::string_view body) {
  std::vector<StreamChunk> chunks;
  std::size_t at = 0;
  while (at < body.size()) {
    if (chunks.size() == kMostChunks)
      return malformed(at,
                       "there are more than " + std::to_string(kMostChunks) + " chunks; send fewer at once");
    const std::size_t line_end = body.substr(0, at + kLongestHeader).find('\n', at);
    if (line_end == std::string_view::npos) return malformed(at, "a header line without an end");
    try {
      const json line = json::parse(body.substr(at, line_end - at));
      StreamChunk chunk{task_from(line),
                        stream_kind_from(line.at("stream").get<std::string>()),
                        line.at("offset").get<std::int64_t>(),
                        {},
                        line.value("final", false),
                        line.value("after_gap", false)};
      const auto length = line.at("length").get<std::int64_t>();
      const std::size_t left = body.size() - line_end - 1;
      if (length < 0 || chunk.offset < 0 || static_cast<std::uint64_t>(length) > left)
        return malformed(at, "its length or offset does not fit the body");
      chunk.bytes = body.substr(line_end + 1, static_cast<std::size_t>(length));
      chunks.push_back(chunk);
      at = line_end + 1 + static_cast<std::size_t>(length);
    } catch (const std::exception& e) {
      return malformed(at, e.what());
    }
  }
  return chunks;
}

std::string positions_to_json(const std::vector<StreamPosition>& positions,
                              const std::vector<std::string>& notes) {
  json streams = json::array();
  for (const StreamPosition& position : positions) {
    json entry = header(position.task, position.stream);
    entry["next"] = position.next;
    streams.push_back(std::move(entry));
  }
  json answer{{"streams", std::move(streams)}};
  if (!notes.empty()) answer["notes"] = notes;
  return dump(answer);
}

std::vector<StreamPosition> positions_from_json(std::string_view text) {
  const json in = json::parse(text);
  std::vector<StreamPosition> positions;
  for (const json& entry : in.at("streams"))
    positions.push_back(
        {task_from(entry), stream_kind_from(entry.at("stream").get<std::string>()), entry.at("next")});
  return positions;
}

std::vector<std::string> notes_from_json(std::string_view text) {
  return json::parse(text).value("notes", std::vector<std::string>{});
}

}  // namespace podium
