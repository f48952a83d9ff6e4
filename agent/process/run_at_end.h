// The command that podium-shim runs once its program has ended (shim_protocol.h, kAtEnd): the removal of a
// container, which a runtime's daemon may keep alive. Plain C, as all of the shim.
#pragma once

namespace podium {

// Runs `words`, each on a line, with their output thrown away, again where it fails, three times in all:
// Podman removes a container that was killed with its monitor at the second try. Waits 20 s together: no
// daemon that hangs holds up the task's end for longer. Nothing for null or "". `words` is taken apart in
// place.
void run_at_end(char* words);

}  // namespace podium
