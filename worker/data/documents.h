// Text for language models: a file holds documents separated by "<|endoftext|>" written out; without one it
// is a single document, since empty lines separate paragraphs, speeches or sections as well.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "worker/data/reading.h"
#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {

// Calls `sink` with every document that is more than white space. Throws BadData naming file and line where
// the text is not UTF-8. The reading expects the file twice: to be checked, which is done here, and to be
// used, which `sink` tells.
void for_each_document(const std::filesystem::path& path, Reading& reading,
                       const std::function<void(std::string_view document)>& sink);

}  // namespace podium
