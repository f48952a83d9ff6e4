// The text of one member of a JSON object, found without keeping the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podium {

struct JsonMember {
  std::optional<std::string> text;  // none: the object has no such member, or it is no string
  std::string malformed;            // why `line` is no JSON object; "" where it is one
};

// Of members of the same name the last counts. At most 64 levels of nesting.
JsonMember find_json_member(std::string_view line, std::string_view name);

}  // namespace podium
