// How a process ends whose threads may still be at work.
#pragma once

namespace podium {

// Threads go on to the end of the process, which use what exit() would destroy.
void leave_threads_behind();

// Ends the process as exit(code) does; where threads are left behind, it destroys nothing.
[[noreturn]] void leave_process(int code);

}  // namespace podium
