// The stdout and stderr of tasks, as files `<home>/logs/<job>/<attempt>/<rank>.<stream>`. Writing the same
// bytes at the same offset again changes nothing. Failures throw std::system_error naming the file.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/model/stream_chunk.h"

namespace podium {

std::filesystem::path log_path(const std::filesystem::path& home, TaskId task, StreamKind stream);

// On disk when it returns.
void write_log(const std::filesystem::path& path, std::int64_t offset, std::string_view bytes);

}  // namespace podium
