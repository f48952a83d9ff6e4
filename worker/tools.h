// The worker's commands that do not train.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace podium {

// Builds a WordPiece vocabulary of at most `size` tokens from the text that `patterns` name. Throws BadData.
void build_vocabulary(const std::vector<std::string>& patterns, int size, bool lowercase,
                      const std::filesystem::path& out);

// Verifies a checkpoint and describes it, for people. Throws std::exception saying what is wrong with it.
std::string describe_checkpoint(const std::filesystem::path& checkpoint);

}  // namespace podium
