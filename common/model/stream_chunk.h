// How agents ship files: the body of POST /api/v1/nodes/{id}/streams is a run of chunks, each one JSON line
//   {"job":12,"attempt":3,"rank":0,"stream":"events","offset":4096,"length":812}
// followed by exactly `length` raw bytes of that file from that offset. The coordinator keeps what is new by
// (task, stream, offset), so a chunk sent twice changes nothing and a gap is answered with the offset to go
// back to. `"final":true` says that the file ends with these bytes, so that a last line without its end is a
// line;
// `"after_gap":true` that the output before them is gone from the node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"

namespace podium {

// "events", "console", "stdout", "stderr" on the wire. console: events that the agent read from the program's
// output, in a file of the agent's.
enum class StreamKind { events, console, out, err };

constexpr bool is_output(StreamKind stream) { return stream == StreamKind::out || stream == StreamKind::err; }

// The longest line of events, including its end. A longer line is sent in pieces of this size, and the
// coordinator skips all of it.
inline constexpr std::size_t kLongestEventLine = std::size_t{256} << 10;

struct StreamChunk {
  TaskId task;
  StreamKind stream = StreamKind::events;
  std::int64_t offset = 0;
  std::string_view bytes;  // a view into the body
  bool final = false;
  bool after_gap = false;  // of output only
};

// The answer for one stream: all bytes before `next` are on the coordinator's disk.
struct StreamPosition {
  TaskId task;
  StreamKind stream = StreamKind::events;
  std::int64_t next = 0;

  bool operator==(const StreamPosition&) const = default;
};

std::string_view to_string(StreamKind stream);
StreamKind stream_kind_from(std::string_view text);  // throws std::invalid_argument

void append_chunk(std::string& body, const StreamChunk& chunk);
Result<std::vector<StreamChunk>> parse_chunks(std::string_view body);

// {"streams":[{"job":…,"attempt":…,"rank":…,"stream":"events","next":n},…],"notes":["…"]}; notes are what the
// agent's own log should say, and may be absent.
std::string positions_to_json(const std::vector<StreamPosition>& positions,
                              const std::vector<std::string>& notes = {});
std::vector<StreamPosition> positions_from_json(std::string_view text);  // throws nlohmann::json::exception
std::vector<std::string> notes_from_json(std::string_view text);         // likewise

}  // namespace podium
