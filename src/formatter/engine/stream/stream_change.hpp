// A call that changes what others see, from when it is about to take the lock. In: the call's lock. Out: a stream that is
// closed before anyone else can look at it, if the call is left by an exception: what it had in its hands is lost. Refuses to
// know what the call does.
#pragma once

#include <exception>

#include "engine/stream/stream_engine.hpp"

namespace formatter {

class StreamEngine::Change {
  public:
    Change(StreamEngine& stream, Guard& guard) : stream_(stream), guard_(guard) {}
    Change(const Change&) = delete;
    void begin() { begun_ = true; }
    ~Change() {
        if (!begun_ || std::uncaught_exceptions() == before_) return;
        if (!guard_.owns_lock()) guard_.lock();
        stream_.closed_ = StreamClosed::out_of_memory;
        stream_.quiet_.notify_all();
    }

  private:
    StreamEngine& stream_;
    Guard& guard_;
    const int before_ = std::uncaught_exceptions();
    bool begun_ = false;
};

}  // namespace formatter
