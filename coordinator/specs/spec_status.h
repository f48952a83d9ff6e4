// What became of the specs of a repository. The API shows it, and a file keeps it, so that a refused spec is
// still shown after a restart.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"
#include "common/base/time.h"
#include "coordinator/specs/spec_repository.h"

namespace podium {

// What became of a spec file at its newest commit.
struct SpecStatus {
  std::string path;
  std::string commit;
  std::optional<ExperimentId> experiment;  // that it became
  Errors problems;  // why it was refused; of neither: it was there when the repository was first looked at
};

struct SpecRepositoryStatus {
  SpecRepository repository;
  std::string commit;             // seen last; "" before the first success
  Time checked{};                 // when it was last looked at; 0: not yet
  std::string error;              // of the last look; "" when it went well
  std::vector<SpecStatus> specs;  // by path; those that the newest commit has
};

// As GET /specs shows it.
nlohmann::json to_json(const SpecRepositoryStatus& status);

void put_spec(std::vector<SpecStatus>& specs, SpecStatus spec);
void move_spec(std::vector<SpecStatus>& specs, const std::string& from, const std::string& to);
void remove_spec(std::vector<SpecStatus>& specs, const std::string& path);

// Throws std::system_error.
void write_specs(const std::filesystem::path& file, const std::vector<SpecStatus>& specs);
// None where there is no such file, or it cannot be read.
std::vector<SpecStatus> read_specs(const std::filesystem::path& file);

}  // namespace podium
