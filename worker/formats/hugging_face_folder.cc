#include "worker/formats/hugging_face_folder.h"

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kSingle[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";

// File by tensor.
std::map<std::string, std::string> weight_map(const fs::path& index) {
  std::map<std::string, std::string> files;
  try {
    files = nlohmann::json::parse(read_file(index)).at("weight_map");
  } catch (const std::exception& error) {
    throw BadData(index.string() + ": " + error.what());
  }
  for (const auto& [tensor, file] : files)
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos)
      throw BadData(index.string() + ": the tensor \"" + tensor + "\" is said to be in \"" + file +
                    "\", which is no file of this folder");
  return files;
}

const SafetensorsFile& open(std::deque<SafetensorsFile>& files, const fs::path& path) {
  try {
    return files.emplace_back(path);
  } catch (const std::system_error& error) {
    throw BadData(error.what());
  }
}

}  // namespace

HuggingFaceFolder::HuggingFaceFolder(const fs::path& folder, ModelFamily family) : family_(family) {
  if (fs::exists(folder / kIndex)) {
    read_index(folder, folder / kIndex);
  } else if (fs::exists(folder / kSingle)) {
    const SafetensorsFile& file = open(files_, folder / kSingle);
    for (const auto& [name, tensor] : file.tensors()) add(file, name);
  } else {
    throw BadData(folder.string() + " holds neither " + kSingle + " nor " + kIndex +
                  "; weights in another format must be saved as safetensors first");
  }
  use_twin();
}

void HuggingFaceFolder::read_index(const fs::path& folder, const fs::path& index) {
  std::map<std::string, const SafetensorsFile*> by_name;
  for (const auto& [tensor, file] : weight_map(index)) {
    const SafetensorsFile*& opened = by_name[file];
    if (opened == nullptr) opened = &open(files_, folder / file);
    opened->at(tensor);
    add(*opened, tensor);
  }
}

void HuggingFaceFolder::add(const SafetensorsFile& file, const std::string& name) {
  const std::optional<std::string> canonical = canonical_name(family_, name);
  if (!canonical) return;
  const auto [there, added] = tensors_.emplace(*canonical, Place{&file, name});
  if (!added)
    throw BadData(file.path().string() + ": the tensor \"" + name + "\" is the same as \"" +
                  there->second.name + "\"");
}

void HuggingFaceFolder::use_twin() {
  const HuggingFaceForm& form = family_of(family_).hugging_face;
  if (form.twin.empty()) return;
  auto twin = tensors_.extract(std::string(form.twin));
  if (twin.empty()) return;
  twin.key() = form.twin_of;
  tensors_.insert(std::move(twin));
}

const HuggingFaceFolder::Place* HuggingFaceFolder::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace podium
