#include "agent/device/package_energy.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  const std::string text = read_file(path);
  return text.substr(0, text.find('\n'));
}

// Throws std::exception.
std::uint64_t number_in(const fs::path& path) {
  const std::string text = first_line(path);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw std::runtime_error(path.string() + " holds no number");
  return number;
}

// "intel-rapl:0", not "intel-rapl:0:1", which lies in it.
bool is_zone(const std::string& name) {
  return name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1;
}

}  // namespace

PackageEnergy::PackageEnergy(const fs::path& folder) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (!is_zone(entry.path().filename())) continue;
    try {
      if (!first_line(entry.path() / "name").starts_with("package")) continue;
      Package package{entry.path() / "energy_uj", number_in(entry.path() / "max_energy_range_uj")};
      number_in(package.counter);
      packages_.push_back(std::move(package));
    } catch (const std::exception& error) {
      trouble_ = error.what();
    }
  }
  if (!trouble_.empty()) packages_.clear();  // a part is not what the node draws
}

std::optional<double> PackageEnergy::look() {
  if (packages_.empty()) return std::nullopt;
  std::uint64_t drawn = 0;
  try {
    for (Package& package : packages_) {
      const std::uint64_t now = number_in(package.counter);
      const std::uint64_t last = package.last.value_or(now);
      package.drawn += now >= last ? now - last : package.range - last + now;
      package.last = now;
      drawn += package.drawn;
    }
  } catch (const std::exception&) {
    return std::nullopt;  // the energy is absent, and told again once the counters are read
  }
  return static_cast<double>(drawn) / 1e6;
}

std::string PackageEnergy::note() const {
  if (!packages_.empty()) return fmt::format("energy of {} processor package(s) is read", packages_.size());
  if (trouble_.empty()) return "no energy of processors: the kernel keeps no counters of it here";
  return "no energy of processors: " + trouble_ +
         "; counters of energy are readable for root alone, or where an administrator has allowed it";
}

}  // namespace podium
