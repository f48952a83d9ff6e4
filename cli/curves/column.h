// What a column of a text file of points holds, by its name: Podium's own names and those of TensorBoard, of
// W&B and of common loggers.
#pragma once

#include <string_view>

namespace podium::cli {

enum class Column { metric_value, run, job, metric, step, time, time_ms, value };

// "Wall time" is a time; what no one knows is the value of a metric of that name.
Column column_of(std::string_view name);

}  // namespace podium::cli
