// Memory for code of others that ends the process where it finds none. In: calls of such code, when they begin and end. Out:
// room that is given back to the system when `operator new` fails, and it tries again. Refuses to know: who is called, for what.
//
// A batch leaves through pyarrow, whose C++ lets std::bad_alloc fly into Python's C, where nobody catches it. There are two
// reserves. One is only for calls that said when they begin: they are not begun without it. The other is for whoever
// fails first, so that what users do with our batches has it, too. Neither is ever touched, so it costs addresses, no pages.
#pragma once

#include <cstddef>

namespace formatter {

// From here on `operator new` finds the reserves, or, with false, fails as it did before. Not for several threads at once.
void keep_memory_reserves(bool wanted);

// Whether both are there, the first for a call that makes so many arrays.
bool memory_is_reserved(size_t array_count);

// Around a call on this thread.
void begin_reserved_call();
void end_reserved_call();

}  // namespace formatter
