#include "worker/tools.h"

#include <spdlog/fmt/fmt.h>

#include "common/base/file.h"
#include "worker/data/text_files.h"
#include "worker/data/vocabulary_builder.h"
#include "worker/train/checkpoint.h"

namespace podium {

void build_vocabulary(const std::vector<std::string>& patterns, int size, bool lowercase,
                      const std::filesystem::path& out) {
  VocabularyBuilder builder(lowercase);
  for (const auto& file : expand_globs(patterns, ""))
    for_each_line(file, [&](std::string_view line) { builder.add_text(line); });
  std::string text;
  for (const std::string& token : builder.build(size)) text += token + "\n";
  write_file_atomic(out, text);
}

std::string describe_checkpoint(const std::filesystem::path& checkpoint) {
  const Manifest manifest = verify_checkpoint(checkpoint);
  const TrainingState& state = manifest.state;
  std::string text = fmt::format("step {}, written by {} rank{}, spec {}{}\n", state.step, state.world_size,
                                 state.world_size == 1 ? "" : "s", state.fingerprint,
                                 state.target_reached ? ", target reached" : "");
  for (const auto& [name, digest] : manifest.files)
    text += fmt::format("{}: {} bytes, XXH3 {}: whole\n", name, digest.bytes, digest.xxh3);
  std::int64_t parameters = 0;
  const SafetensorsFile weights(checkpoint / "weights.safetensors");
  for (const auto& [name, tensor] : weights.tensors()) {
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    parameters += size;
    text += fmt::format("  {} {} [{}]\n", name, tensor.dtype, fmt::join(tensor.shape, ", "));
  }
  return text + fmt::format("{} parameters\n", parameters);
}

}  // namespace podium
