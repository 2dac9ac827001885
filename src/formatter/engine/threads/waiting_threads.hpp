// Threads that wait for work, so that work need not wait for threads. In: a function and its argument. Out: it runs on
// other threads, soon. Knows nothing of what is done.
//
// Starting and ending a thread takes as long as reading half a megabyte, most of it on the thread that asks. So those
// that were started stay for a while: they belong to the process, and whoever asks next gets them.
#pragma once

namespace formatter {

// Runs work(argument) on `count` other threads; returns on how many, fewer if the system has no more.
unsigned ask_helpers(unsigned count, void (*work)(void*), void* argument);

// Takes back what has not begun; returns how many times work(argument) will not run.
unsigned recall_helpers(void* argument);

}  // namespace formatter
