// How many files and sockets this process may have open.
#pragma once

namespace podium {

// Raises the limit to what the system allows: a shell's 1,024 are too few for some hundreds of ranks, whose
// connections all end at each other and at rank 0.
void raise_file_limit();

}  // namespace podium
