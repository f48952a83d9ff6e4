// Why a task ended, from its own output, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace podium {

// `events` is the end of an events.jsonl, perhaps beginning within a line: the message of the last error
// note, or "".
std::string last_error_note(std::string_view events);

// `file` is what torch.distributed's @record wrote into TORCHELASTIC_ERROR_FILE: the exception that ended the
// process, as "ValueError: …", its first line; "" where it says none.
std::string recorded_error(std::string_view file);

// When it did, in seconds since 1970; 0 where the file does not say.
std::int64_t recorded_seconds(std::string_view file);

// Whether its last event says that it left before it was done: `finished: preempted`.
bool says_preempted(std::string_view events);

// The last line of `text` that is not blank, cut to a length that fits a table; "" when there is none.
std::string last_line(std::string_view text);

}  // namespace podium
