// The weights of a Hugging Face folder, in one file or in several with an index, by canonical name.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/formats/safetensors.h"

namespace podium {

class HuggingFaceFolder {
 public:
  // Throws BadData naming what is missing or malformed.
  HuggingFaceFolder(const std::filesystem::path& folder, ModelFamily family);

  struct Place {
    const SafetensorsFile* file = nullptr;
    std::string name;  // as the file calls it
  };
  const std::map<std::string, Place>& tensors() const { return tensors_; }
  const Place* find(const std::string& name) const;  // nullptr where there is none

 private:
  void add(const SafetensorsFile& file, const std::string& name);
  void read_index(const std::filesystem::path& folder, const std::filesystem::path& index);
  void use_twin();

  ModelFamily family_;
  std::deque<SafetensorsFile> files_;
  std::map<std::string, Place> tensors_;
};

}  // namespace podium
