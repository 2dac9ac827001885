#include "engine/whole/file_bytes.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/threads/synchronization.hpp"
#include "engine/threads/waiting_threads.hpp"

namespace formatter {
namespace {

constexpr size_t piece_bytes = sized<size_t>(512 << 10, 3);  // takes about as long to copy as a thread to wake up

struct Reading {
    int file;
    uint64_t offset;
    uint8_t* to;
    size_t size;
    Atomic<size_t> next{0};
    Atomic<size_t> end;  // the least place where the file was found to end
    Atomic<int> error{0};
    Atomic<unsigned> helpers_in{0};
};

void read_piece(Reading& reading, size_t begin) {
    const size_t end = std::min(begin + piece_bytes, reading.size);
    for (size_t at = begin; at < end;) {
        const ssize_t got = pread(reading.file, reading.to + at, end - at, off_t(reading.offset + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            reading.error = errno;
            return;
        }
        if (got == 0) {
            size_t known = reading.end;
            while (at < known && !reading.end.compare_exchange_weak(known, at)) {}
            return;
        }
        at += size_t(got);
    }
}

void read_pieces(Reading& reading) {
    for (;;) {
        const size_t begin = reading.next.fetch_add(piece_bytes);
        if (begin >= reading.size || reading.error != 0 || begin >= reading.end) return;
        read_piece(reading, begin);
    }
}

void help(void* argument) {
    Reading& reading = *static_cast<Reading*>(argument);
    read_pieces(reading);
    reading.helpers_in--;  // the last touch: it may be gone now
}

}  // namespace

ptrdiff_t read_file_bytes(int file, uint64_t offset, uint8_t* to, size_t size, unsigned threads) {
    Reading reading;
    reading.file = file;
    reading.offset = offset;
    reading.to = to;
    reading.size = reading.end = size;
    const size_t pieces = (size + piece_bytes - 1) / piece_bytes;
    const unsigned wanted = unsigned(std::min<size_t>(threads, pieces));
    HelperRequest request{help, &reading};
    if (wanted > 1) {
        reading.helpers_in = wanted - 1;
        reading.helpers_in -= wanted - 1 - ask_helpers(&request, wanted - 1);
    }
    read_pieces(reading);
    if (reading.helpers_in != 0) reading.helpers_in -= recall_helpers(&request);
    for (int looks = 0; reading.helpers_in != 0; looks++) {  // a piece at most is still to come
        if (looks < 4000)
            pause_a_little();
        else
            sched_yield();
    }
    return reading.error != 0 ? -ptrdiff_t(reading.error) : ptrdiff_t(reading.end);
}

}  // namespace formatter
