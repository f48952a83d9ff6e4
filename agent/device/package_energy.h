// The energy that the node's processor packages draw, from the kernel's counters (RAPL, on Intel's and AMD's
// processors): <folder>/intel-rapl:0/energy_uj, which wraps at max_energy_range_uj. Zones within a package
// and zones of the whole machine are skipped, because their energy would count twice. A counter must be read
// once before it has gone round, which takes some minutes on a busy package.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace podium {

class PackageEnergy {
 public:
  explicit PackageEnergy(const std::filesystem::path& folder);

  // Joules of all packages together since the first look; none while a counter cannot be read, or where the
  // node has none.
  std::optional<double> look();

  // For the log: what can be read, or why nothing can be.
  std::string note() const;

 private:
  struct Package {
    std::filesystem::path counter;
    std::uint64_t range = 0;                 // in µJ: the counter's greatest value
    std::optional<std::uint64_t> last = {};  // in µJ
    std::uint64_t drawn = 0;                 // in µJ
  };

  std::vector<Package> packages_;
  std::string trouble_;
};

}  // namespace podium
