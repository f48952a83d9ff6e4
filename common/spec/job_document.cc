#include "common/spec/job_document.h"

#include "common/spec/defaults.h"
#include "common/spec/meaning.h"
#include "common/spec/schema.h"

namespace podium {
namespace {

using nlohmann::json;

// Sets refused values to null, so that the rules of meaning.h pass over them.
json without_refused(json document, const Problems& problems) {
  for (const std::string& pointer : problems.pointers()) {
    const json::json_pointer at(pointer);
    if (!at.empty() && document.contains(at)) document[at] = nullptr;
  }
  return document;
}

}  // namespace

json check_job(const json& document, Problems& problems) {
  check_shape(document, problems);
  if (!document.is_object()) return {};
  json filled = with_defaults(without_refused(document, problems));
  check_meaning(filled, problems);
  return filled;
}

}  // namespace podium
