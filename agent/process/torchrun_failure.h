// What torchrun says of the process that made it fail. Its own exit code is 1 whatever theirs were.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podium {

struct TorchrunFailure {
  int code = 0, signal = 0;  // of the process that failed first, by torchrun's clock
  int rank = 0;
  std::string message;  // the exception that it printed; "" where it printed none
};

// `errors` is the end of torchrun's stderr, which holds that of its processes. Nothing where torchrun does
// not end with a report.
std::optional<TorchrunFailure> torchrun_failure(std::string_view errors);

// The exception that ended the first of Python's tracebacks in the text, as "ValueError: no shard 7"; ""
// where there is none. Lines may begin with a rank in brackets, as torch and torchrun's --tee put it.
std::string first_exception(std::string_view text);

}  // namespace podium
