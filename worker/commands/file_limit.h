// How many files and sockets this process may have open.
#pragma once

namespace podium {

// Raises the limit to what the system allows. A shell's limit of 1,024 is too low for some hundreds of ranks,
// which connect to one another and to rank 0.
void raise_file_limit();

}  // namespace podium
