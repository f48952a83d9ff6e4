// What published programs take for white space.
#pragma once

#include <unicode/uchar.h>

namespace podium {

// Python's str.isspace(), str.strip(), str.split() and \s.
inline bool is_python_space(UChar32 c) {
  const UCharDirection direction = u_charDirection(c);
  return u_charType(c) == U_SPACE_SEPARATOR || direction == U_WHITE_SPACE_NEUTRAL ||
         direction == U_BLOCK_SEPARATOR || direction == U_SEGMENT_SEPARATOR;
}

// What BERT's run_squad.py splits a context into words at.
inline bool is_document_space(UChar32 c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0x202F;
}

}  // namespace podium
