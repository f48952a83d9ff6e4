#include "worker/commands/predict/prediction.h"

#include <algorithm>

#include "worker/commands/named_lines.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"

namespace podium {

PredictModel::PredictModel(const PredictArguments& arguments)
    : source(read_model(arguments.model)),
      tokenizer(tokenizer_of(source)),
      compute(arguments.compute),
      weights(make_bert_weights(compute.context, source,
                                {.precision = precision_of(arguments.compute, source)})) {}

void check_text(std::string_view option, const std::string& text) {
  if (is_blank(text)) refuse_spec(std::string(option) + " is empty");
  if (find_invalid_utf8(text) != std::string::npos) throw BadData(std::string(option) + " is no UTF-8");
}

std::string in_a_field(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
  return text;
}

}  // namespace podium
