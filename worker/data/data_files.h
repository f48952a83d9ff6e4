// The files that a pattern of data.train or evaluate.data names: text, or Megatron data (megatron_data.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace podium {

// As expand_globs() (text_files.h) finds them. Besides paths and globs a pattern may be the NAME of Megatron
// data; NAME.idx stands for NAME.bin and the report NAME.json for nothing, so "*" names the data once.
// A file of an unfinished podium-worker prepare (*.part, *.prepare.json) is BadData, and so
// are parts NAME-K-of-N whose reports tell of different lists of files, or of which a glob finds not all.
std::vector<std::filesystem::path> data_files(const std::vector<std::string>& patterns,
                                              const std::filesystem::path& folder);

inline bool is_megatron(const std::filesystem::path& file) { return file.extension() == ".bin"; }

}  // namespace podium
