// TensorBoard's Event messages, as far as scalars, hyperparameters and text go
// (tensorflow/core/util/event.proto, framework/summary.proto and tensor.proto name the fields).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/curves/point.h"

namespace podium::cli {

// The first record of every file.
std::string version_event(double wall_time);

// TensorBoard shows 32 bits of a value.
std::string scalar_event(const std::string& tag, const CurvePoint& point);

// What the Text page shows as Markdown.
std::string text_event(const std::string& tag, std::string_view text, std::int64_t time_ms);

using HyperParameter = std::variant<double, bool, std::string>;
using HyperParameters = std::vector<std::pair<std::string, HyperParameter>>;

// What the HParams page compares runs by.
std::string hyperparameters_event(const std::string& run, const HyperParameters& values,
                                  std::int64_t time_ms);

struct Event {
  struct Scalar {
    std::string tag;
    double value = 0;
  };

  double wall_time = 0;
  std::int64_t step = 0;
  std::string file_version;     // of the first record: "brain.Event:2"
  bool session_starts = false;  // whatever was told of this step and later ones is void
  std::vector<Scalar> scalars;
  HyperParameters parameters;
  std::vector<std::string> others;  // tags of images, histograms, text, …
};

// Scalars come as a float, or as a tensor of one number whose first event of the tag says that it is one: the
// reader of a run remembers those.
class EventReader {
 public:
  // Nothing where the message is malformed.
  std::optional<Event> read(std::string_view message);

 private:
  bool read_summary(std::string_view summary, Event& event);
  bool read_value(std::string_view value, Event& event);

  std::set<std::string> scalar_tensors_;  // tags
};

}  // namespace podium::cli
