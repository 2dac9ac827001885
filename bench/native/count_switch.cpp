// Switches callgrind's counting on and off, from Python by ctypes. Outside valgrind all of this does nothing.
// Built on the spot by bench/instructions/callgrind.py; the header comes with valgrind.
#include <valgrind/callgrind.h>

extern "C" {
int counting_is_possible() { return RUNNING_ON_VALGRIND; }
void start_counting() { CALLGRIND_START_INSTRUMENTATION; }
void stop_counting() { CALLGRIND_STOP_INSTRUMENTATION; }
}
