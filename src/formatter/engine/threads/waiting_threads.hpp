// Threads that wait for work, so that work need not wait for threads. In: a function and its argument. Out: it runs on
// other threads, soon. Knows nothing of what is done.
//
// Starting and ending a thread takes as long as reading half a megabyte, most of it on the thread that asks. So those
// that were started stay for a while: they belong to the process, and whoever asks next gets them.
#pragma once

namespace formatter {

// Work that others may take. It belongs to who asks, so that asking takes no memory.
struct HelperRequest {
    void (*work)(void*);  // throws nothing
    void* argument;
    unsigned waiting = 0;  // times that nobody has taken it yet; changed by the two calls below only
    HelperRequest* next = nullptr;
};

// Runs the work on `count` more other threads; returns on how many, fewer if the system has no more. The request stays
// where it is until it is recalled or has begun so often.
unsigned ask_helpers(HelperRequest* request, unsigned count);

// Takes back what has not begun; returns how many times the work will not run.
unsigned recall_helpers(HelperRequest* request);

}  // namespace formatter
