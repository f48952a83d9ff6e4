#include "coordinator/store/run_change.h"

#include "common/base/overloaded.h"

namespace podium {
namespace {

std::size_t bytes_of(const std::vector<KeyValue>& pairs) {
  std::size_t bytes = 0;
  for (const KeyValue& pair : pairs) bytes += sizeof pair + pair.key.size() + pair.value.size();
  return bytes;
}

}  // namespace

std::size_t size_of(const RunChange& change) {
  const auto more = Overloaded{
      [](const LogToRun& log) {
        std::size_t bytes = bytes_of(log.params) + bytes_of(log.tags);
        for (const RunPoint& point : log.points) bytes += sizeof point + point.key.size();
        return bytes;
      },
      [](const AddRunInputs& add) {
        std::size_t bytes = 0;
        for (const RunInput& input : add.inputs) bytes += sizeof input + input.body.size();
        return bytes;
      },
      [](const MakeRunGroup& make) { return bytes_of(make.tags); },
      [](const SetRunGroupTag& tag) { return tag.value.value_or("").size(); },
      [](const auto&) { return std::size_t{0}; },
  };
  return sizeof change + std::visit(more, change.what);
}

}  // namespace podium
