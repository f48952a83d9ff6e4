// A spec as it lies in the user's folder: its text, and the commit it can be found again by.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

struct SpecFile {
  std::string name;  // as the user wrote it; "<stdin>" for "-"
  std::string text;
};

SpecFile read_spec_file(const std::string& path);

// {"repository","commit","path","dirty"} of the file at `path`; null outside git. `warning` says why a
// repository that is there could not be read.
nlohmann::json find_source(const std::string& path, std::string& warning);

}  // namespace podium::cli
