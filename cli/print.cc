#include "cli/print.h"

#include <unistd.h>

#include <system_error>

#include "cli/failure.h"
#include "common/base/file.h"

namespace podium::cli {

void print(std::string_view text) {
  try {
    write_all(STDOUT_FILENO, text, "standard output");
  } catch (const std::system_error& error) {
    throw Failure(Exit::output, error.what());
  }
}

}  // namespace podium::cli
