// The rules about devices, nodes and time.
#include <spdlog/fmt/fmt.h>

#include <regex>
#include <vector>

#include "common/base/units.h"
#include "common/model/job.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"
#include "common/spec/source_map.h"

namespace podium {

using nlohmann::json;

namespace {

// The value at `divisor` must divide the one at `number`.
void check_divides(const Facts& facts, const char* divisor, const char* number, Problems& problems) {
  const auto by = facts.integer(divisor);
  const auto whole = facts.integer(number);
  if (!by || !whole || *by == 0 || *whole % *by == 0) return;
  problems.add(divisor,
               fmt::format("{} ({}) must divide {} ({})", dotted(divisor), *by, dotted(number), *whole));
}

// training.fp8 multiplies extents that tensor cores take in vectors of 16.
void check_fp8_columns(const Facts& facts, Problems& problems) {
  const auto layout = layout_rules(facts, {"tensor"});
  if (!layout || facts.flag("/training/fp8") != true) return;
  for (const char* extent : {"/model/hidden", "/model/intermediate"})
    if (const auto whole = facts.integer(extent); whole && *whole % layout->columns_unit() != 0)
      problems.add("/training/fp8",
                   fmt::format("training.fp8 needs {} ({}) to be a multiple of {} × parallel.tensor ({})",
                               dotted(extent), *whole, kColumnMultiple, layout->tensor));
}

// Tensor-parallel devices share heads and columns evenly; the vocabulary need not come out even.
void check_tensor(const Facts& facts, Problems& problems) {
  const auto layout = layout_rules(facts, {"tensor"});
  if (!layout || layout->tensor == 1) return;
  std::vector<std::string> uneven;
  for (const char* extent : {"/model/heads", "/model/key_value_heads", "/model/intermediate"})
    if (const auto whole = facts.integer(extent); whole && *whole % layout->heads_unit() != 0)
      uneven.push_back(fmt::format("{} ({})", dotted(extent), *whole));
  if (const auto hidden = facts.integer("/model/hidden"); hidden && *hidden % layout->columns_unit() != 0)
    uneven.push_back(fmt::format("model.hidden ({}) into multiples of {}", *hidden, kColumnMultiple));
  if (!uneven.empty())
    problems.add("/parallel/tensor",
                 fmt::format("parallel.tensor ({}) must divide {}", layout->tensor, fmt::join(uneven, ", ")));
}

void check_pipeline(const Facts& facts, Problems& problems) {
  const auto layout = layout_rules(facts, {"pipeline"});
  if (!layout) return;
  if (layout->interleave > 1 && layout->pipeline == 1) {
    problems.add("/parallel/interleave",
                 fmt::format("parallel.interleave ({}) is for a pipeline; set parallel.pipeline above 1 or "
                             "leave interleave out",
                             layout->interleave));
    return;
  }
  const auto layers = facts.integer("/model/layers");
  if (!layers || *layers % layout->layers_unit() == 0) return;
  if (layout->interleave == 1)
    problems.add("/parallel/pipeline", fmt::format("parallel.pipeline ({}) must divide model.layers ({})",
                                                   layout->pipeline, *layers));
  else
    problems.add(
        "/parallel/interleave",
        fmt::format("parallel.pipeline × parallel.interleave ({} × {}) must divide model.layers ({})",
                    layout->pipeline, layout->interleave, *layers));
}

void check_recompute(const Facts& facts, Problems& problems) {
  const auto recomputed = facts.integer("/training/recompute_layers");
  const auto granularity = facts.text("/training/recompute");
  if (!recomputed || !granularity) return;
  if (*granularity != to_string(Recompute::full)) {
    problems.add("/training/recompute_layers",
                 fmt::format("training.recompute_layers ({}) is for recompute: full; set training.recompute "
                             "to full, or leave recompute_layers out",
                             *recomputed));
    return;
  }
  const auto layout = layout_rules(facts, {"pipeline", "interleave"});
  const auto layers = facts.integer("/model/layers");
  if (!layout || !layers || *layers % layout->layers_unit() != 0) return;
  const auto most = *layers / layout->layers_unit();
  if (*recomputed <= most) return;
  problems.add("/training/recompute_layers",
               fmt::format("training.recompute_layers ({}) must not be above {}: model.layers ({}) over "
                           "parallel.pipeline × parallel.interleave ({} × {}); leave it out to recompute all "
                           "of them",
                           *recomputed, most, *layers, layout->pipeline, layout->interleave));
}

void check_parallel(const Facts& facts, Problems& problems) {
  const auto layout = layout_rules(facts, {"tensor", "pipeline"});
  const auto devices = facts.integer("/resources/devices");
  if (layout && devices && *devices % layout->devices_unit() != 0)
    problems.add("/resources/devices",
                 fmt::format("resources.devices ({}) must be a multiple of parallel.tensor × "
                             "parallel.pipeline ({} × {})",
                             *devices, layout->tensor, layout->pipeline));
  check_tensor(facts, problems);
  check_fp8_columns(facts, problems);
  check_pipeline(facts, problems);
  check_recompute(facts, problems);
  if (facts.flag("/parallel/sequence") == true && facts.integer("/parallel/tensor") == 1)
    problems.add(
        "/parallel/sequence",
        "parallel.sequence cuts rows over the tensor-parallel devices; set parallel.tensor above 1 or "
        "leave it out");
  const FamilyTraits* family = named_family(facts);
  if (facts.flag("/training/unpadded") == true && family != nullptr && !family->masked)
    problems.add("/training/unpadded",
                 fmt::format("training.unpadded is for bert; {}'s sequences have no padding, so leave it out",
                             family->name()));
}

void check_walltime(const Facts& facts, Problems& problems) {
  const auto walltime = facts.text("/resources/walltime");
  if (!walltime) return;
  static const std::regex in_order("([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?");
  const auto duration = parse_duration(*walltime);
  if (!duration && !std::regex_match(*walltime, in_order))
    problems.add("/resources/walltime",
                 fmt::format("resources.walltime ({}) must have each unit at most once, from large to "
                             "small, as in 1d12h30m",
                             *walltime));
  else if (!duration || *duration > kLongestWalltime)
    problems.add("/resources/walltime", fmt::format("resources.walltime must be at most {}, not {}",
                                                    format_duration(kLongestWalltime), *walltime));
  else if (*duration < std::chrono::seconds(1))
    problems.add("/resources/walltime", "resources.walltime must be at least 1s");
}

void check_within(const Facts& facts, Problems& problems) {
  const auto range = facts.integer("/resources/devices/max");
  const auto devices = range ? range : facts.integer("/resources/devices");
  const auto per_node = facts.integer("/resources/per_node");
  if (facts.text("/resources/within") == "node" && devices && per_node && *per_node > 0 &&
      *per_node < *devices)
    problems.add("/resources/within",
                 fmt::format("resources.within: node wants all {} devices on one node and resources.per_node "
                             "{} on each; leave one of the two out",
                             *devices, *per_node));
}

void check_node_labels(const Facts& facts, Problems& problems) {
  if (!facts.has("/resources/nodes") || !facts.all()["resources"]["nodes"].is_object()) return;
  for (const auto& [key, value] : facts.all()["resources"]["nodes"].items())
    if (key.empty() || key.size() > 63)
      problems.add_key("/resources/nodes/" + pointer_step(key),
                       fmt::format("the label key {} must have 1 to 63 characters", json(key).dump()));
}

}  // namespace

std::optional<LayoutRules> layout_rules(const Facts& facts, std::initializer_list<std::string> needed) {
  const auto number = [&](const std::string& key) { return facts.integer("/parallel/" + key); };
  for (const std::string& key : needed)
    if (!number(key)) return std::nullopt;
  const auto known = [&](const char* key) { return static_cast<int>(number(key).value_or(1)); };
  return LayoutRules{known("tensor"), known("pipeline"), known("interleave")};
}

void check_layout(const Facts& facts, Problems& problems) {
  check_divides(facts, "/resources/per_node", "/resources/devices", problems);
  check_elastic(facts, problems);
  check_parallel(facts, problems);
  check_within(facts, problems);
  check_node_labels(facts, problems);
  check_walltime(facts, problems);
}

void check_duration(const Facts& facts, const char* pointer, Duration least, Duration most,
                    Problems& problems) {
  const auto text = facts.text(pointer);
  if (!text) return;
  const auto duration = parse_duration(*text);
  if (!duration || *duration < least || *duration > most)
    problems.add(pointer, fmt::format("{} must be {} to {}, as in 1s500ms, not {}", dotted(pointer),
                                      format_duration(least), format_duration(most), *text));
}

}  // namespace podium
