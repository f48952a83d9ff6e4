#include "cli/print.h"

#include <unistd.h>

#include "common/base/file.h"

namespace podium::cli {

void print(std::string_view text) { write_all(STDOUT_FILENO, text, "standard output"); }

}  // namespace podium::cli
