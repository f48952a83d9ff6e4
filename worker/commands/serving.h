// What a server needs, whether a person starts it (serve_command.cc) or an agent a replica (replica.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/model/serve_spec.h"
#include "worker/commands/compute_arguments.h"
#include "worker/serve/server.h"

namespace podium {

struct ServingArguments {
  ModelArguments beside;  // vocabulary and data folder, of models that come without
  ComputeArguments compute;
  std::string tokenizer;  // of models that generate, in place of their own
};

// Throws BadData or Failure.
std::unique_ptr<LoadedModel> load_served_model(const ServingArguments& arguments,
                                               const std::filesystem::path& folder);

// With the limits of the spec; who may ask what, and where, is the caller's.
ServerSettings server_settings(const ServeSpec& spec);

}  // namespace podium
