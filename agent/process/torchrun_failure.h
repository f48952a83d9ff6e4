// What torchrun says of the process that made it fail. Its own exit code is 1 whatever theirs were.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace podium {

struct TorchrunFailure {
  int code = 0, signal = 0;  // of the process that failed first, by torchrun's clock
  int rank = 0;
  std::string
      message;       // the exception that it printed, as "ValueError: no shard 7", where lines say their rank
  std::string last;  // the last that any process printed, where they do not; it may be another's
};

// `errors` is the end of torchrun's stderr, which holds that of its processes. Nothing where torchrun does
// not end with a report.
std::optional<TorchrunFailure> torchrun_failure(std::string_view errors);

std::string describe(const TorchrunFailure& failure);

// The exception that ended the last of Python's tracebacks in the lines with such a prefix; "" where there is
// none. A prefix is a rank in brackets, as torch ("[rank3]:") and torchrun's --tee ("[default3]:") put it, or
// "".
std::string last_exception(std::string_view text, const std::function<bool(std::string_view)>& is_of);

}  // namespace podium
