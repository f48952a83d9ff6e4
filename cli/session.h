// What all commands share: where the coordinator is, who asks, and how answers are printed.
#pragma once

#include <string>

#include "cli/failure.h"

namespace podium::cli {

struct Session {
  std::string coordinator = "http://127.0.0.1:7070";
  std::string token_file;
  std::string ca_file;
  std::string timeout;  // "90s"; "": as long as the request usually takes
  bool json = false;
  Exit exit = Exit::ok;  // set by the command that ran
};

// --token-file, else PODIUM_TOKEN, else user.token in PODIUM_HOME (.podium when unset); "" when there is
// none.
std::string find_token(const Session& session);

}  // namespace podium::cli
