#include "worker/commands/predict/prediction.h"

#include "worker/commands/named_lines.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {

namespace {

BertWeights read_weights(Context& context, SourceModel& source, InferencePrecision precision) {
  read_tensors(source);
  return make_bert_weights(context, source, {.precision = precision});
}

}  // namespace

// What can be refused is, before the weights are read.
PredictModel::PredictModel(const PredictArguments& arguments)
    : source(find_model(arguments.model)),
      tokenizer(tokenizer_of(source)),
      compute(arguments.compute),
      weights(read_weights(compute.context, source, precision_of(arguments.compute, source))) {}

void check_text(std::string_view option, const std::string& text) {
  if (is_blank(text)) refuse_spec(std::string(option) + " is empty");
  if (find_invalid_utf8(text) != std::string::npos) throw BadData(std::string(option) + " is no UTF-8");
}

std::string id_field(const std::string& id) { return id.empty() ? "" : without_controls(id) + "\t"; }

}  // namespace podium
