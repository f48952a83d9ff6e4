// An export holds one tensor at a time: a model of 8.3 billion parameters would not fit twice into most
// machines.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/comm/processes.h"
#include "worker/checkpoint/store.h"
#include "worker/checkpoint/weights.h"
#include "worker/comm/single_communicator.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_names.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// Of 25 million parameters, none of them in a tensor of more than 0.8 million.
ModelSpec middling_gpt() {
  ModelSpec spec;
  spec.family = ModelFamily::gpt;
  spec.layers = 30;
  spec.hidden = 256;
  spec.heads = 8;
  spec.intermediate = 1024;
  spec.vocab = 3000;
  spec.max_positions = 128;
  return spec;
}

void declare(ParameterStore& store, const ModelSpec& spec) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec))
    for (const std::string& name : entry.parameters) {
      const std::vector<std::int64_t> shape = entry.parameter_shape();
      store.add({.name = name, .shape = shape.size() == 1 ? Shape{shape[0]} : Shape{shape[0], shape[1]}});
    }
  store.allocate();
}

void save(const fs::path& folder, const ModelSpec& spec, ParameterStore& store) {
  std::vector<float> first(store.weights().size()), second(store.weights().size());
  SingleCommunicator alone;
  CheckpointStore checkpoints({folder, true}, 1, alone, {});
  CheckpointState state;
  state.step = 1;
  state.spec.model = spec;
  const auto length = static_cast<std::int64_t>(store.weights().size());
  checkpoints.begin_save(state, {store, {{"first_moment", first}, {"second_moment", second}}, {{0, length}}});
  checkpoints.finish();
}

std::int64_t status_kilobytes(const std::string& key) {
  std::istringstream status(read_file("/proc/self/status"));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1));
  return -1;
}

// How far this process' memory rose above where it was, at most, while `work` ran.
template <class Work>
std::int64_t rise_in_kilobytes(const Work& work) {
  std::ofstream("/proc/self/clear_refs") << 5;  // forgets the peak
  const std::int64_t before = status_kilobytes("VmRSS");
  work();
  return status_kilobytes("VmHWM") - before;
}

TEST(ExportMemory, HoldsFarLessThanTheModel) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped: waits for a build without a sanitizer, which keeps what was freed";
#endif
  const TempFolder folder;
  const ModelSpec spec = middling_gpt();
  ParameterStore store;
  declare(store, spec);
  store.initialise(1, 0.02);
  save(folder.path() / "checkpoints", spec, store);
  const auto model_kilobytes = static_cast<std::int64_t>(store.weights().size_bytes() / 1024);
  const fs::path exported = folder.path() / "model";

  ForkedProcesses exporter(1, [&](int) {
    const fs::path checkpoint = folder.path() / "checkpoints" / "step-00000001";
    const std::int64_t rise = rise_in_kilobytes([&] {
      const CheckpointManifest manifest = read_whole_checkpoint(checkpoint);
      CheckpointReader reader(checkpoint, manifest);
      const auto source = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
        return read_full_weight(reader, name, shape);
      };
      write_hugging_face(exported, spec, source, 20'000'000);
    });
    if (rise < 0) return 100;  // not told
    return static_cast<int>(std::min<std::int64_t>(99, 100 * rise / model_kilobytes));
  });
  EXPECT_LT(exporter.wait(0), 25) << "percent of the model's bytes";

  EXPECT_TRUE(fs::exists(exported / "model.safetensors.index.json"));
  ParameterStore found;
  declare(found, spec);
  EXPECT_TRUE(load_hugging_face(exported, spec, found).empty());
  EXPECT_TRUE(std::ranges::equal(found.weights(), store.weights()));
}

}  // namespace
}  // namespace podium
