// The value of --tokenizer, with --cased beside it.
#pragma once

#include <memory>
#include <string>

#include "worker/tokenizer/tokenizer.h"

namespace podium {

// load_tokenizer's names (load_tokenizer.h). `cased` keeps capitals and accents and is for wordpiece: alone;
// with others it throws Failure(bad_spec). Throws BadData where the files are no tokenizer.
std::unique_ptr<const Tokenizer> load_tokenizer_argument(const std::string& what, bool cased);

}  // namespace podium
