// Published rows that were posted: `published.json` in the coordinator's home, a file as
// schemas/published.schema.json has it, which people may also correct by hand while the coordinator is down.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/spec/published.h"

namespace podium {

inline constexpr char kImportsName[] = "published.json";
inline constexpr std::size_t kMostImports = 10'000;

// None where the file does not exist. Throws std::runtime_error with all that is wrong with it.
std::vector<PublishedRow> load_imports(const std::filesystem::path& file);

// The content of the file.
std::string imports_text(const std::vector<PublishedRow>& rows);

struct ImportsTaken {
  std::vector<PublishedRow> rows;  // sorted
  std::size_t added = 0, replaced = 0, unchanged = 0;
};

// Puts `rows` among those that are there; one takes the place of an older figure of the same thing: of the
// same benchmark, hardware, devices, precision, batch, unit and source. Figures that every build has are
// there already, also under another name of their hardware.
ImportsTaken take_imports(std::vector<PublishedRow> there, const std::vector<PublishedRow>& rows);

}  // namespace podium
