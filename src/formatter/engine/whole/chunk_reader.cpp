#include "engine/whole/chunk_reader.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/whole/chunk_survey.hpp"

namespace formatter {
namespace {

class ChunkReading {
  public:
    ChunkReading(const RecordEnding& ending, RecordDecoder& decoder, const ChunkLimits& limits, ChunkRows* out)
        : ending_(ending), decoder_(decoder), limits_(limits), out_(out) {}

    void read(size_t number, const PlacedChunk& chunk) {
        number_ = number;
        ScanState state = unpacked_state(ending_, chunk.state);
        if (const size_t width = ending_.fixed_size()) state.count = uint64_t(chunk.byte_offset) % width;
        const RecordEnds ends = ending_.ends_after(chunk.data, chunk.size, &state);
        size_t last = ends.any() ? ends.last : 0;
        if (last == RecordEnds::later) last = ending_.last_end(chunk.data, chunk.size, state.inside);
        records_ = 0;
        stream_start_ = chunk.stream_start;
        size_t at = chunk.begin == PlacedChunk::carried ? 0 : size_t(chunk.begin);
        const bool joins = chunk.carry_size && chunk.begin == PlacedChunk::carried;
        if (ends.any() && joins) {
            at = ends.first;
            make_room(chunk.carry_size + at);  // not once the bytes are joined: rows that leave take theirs with them
            const uint8_t* joined = join(chunk, at);
            complete(joined, chunk.carry_size + at, chunk, -int64_t(chunk.carry_size));
            out_->spanning += records_;
        }
        if (at < last) complete(chunk.data + at, last - at, chunk, int64_t(at));
        if (chunk.ends_stream) end_stream(chunk, joins && !ends.any(), std::max(at, last));
    }

    void hand_out() {
        decoder_.materialize();
        joined_.clear();
        if (decoder_.rows() == 0) return;
        handed_out_ += decoder_.rows();
        out_->batches.emplace_back();
        decoder_.export_batch(&out_->batches.back());
    }

    uint64_t rows() {
        decoder_.materialize();
        joined_.clear();
        return handed_out_ + decoder_.rows();
    }

    void take_findings() {
        for (FindingAt<PlacePosition>& found : decoder_.findings) {
            const ChunkPlace& place = places_[found.at.record.place];
            const StretchPosition position{place.begin.bytes + found.at.bytes,
                                           place.begin.records + found.at.record.records};
            out_->findings.push_back({place.chunk, {std::move(found), position}});
        }
        decoder_.findings.clear();
        out_->counters.take(&decoder_.counters);
    }

  private:
    // The bytes of the record that is open at the chunk's start, with the chunk's first `size`.
    const uint8_t* join(const PlacedChunk& chunk, size_t size) {
        std::unique_ptr<uint8_t[]> bytes(new uint8_t[chunk.carry_size + size]);
        std::memcpy(bytes.get(), chunk.carry, chunk.carry_size);
        if (size) std::memcpy(bytes.get() + chunk.carry_size, chunk.data, size);
        joined_.push_back(std::move(bytes));
        return joined_.back().get();
    }

    void place(const PlacedChunk& chunk, int64_t at) {
        decoder_.place(Place{uint32_t(places_.size()), stream_start_});
        places_.push_back({number_, {chunk.byte_offset + at, records_}});
    }

    void complete(const uint8_t* data, size_t size, const PlacedChunk& chunk, int64_t at) {
        place(chunk, at);
        for (size_t used = 0; used < size;) {
            if (full()) hand_out();
            const size_t more = decoder_.index(data + used, size - used, limits_.max_rows - decoder_.rows());
            used += more;
            if (more == 0 && !full() && !make_room(size - used)) break;  // blank lines at most
        }
        records_ += decoder_.records_placed();
        stream_start_ = false;
        if (full()) hand_out();
    }

    void end_stream(const PlacedChunk& chunk, bool joins, size_t at) {
        const size_t size = joins ? chunk.carry_size + chunk.size : chunk.size - at;
        if (size == 0) return;
        make_room(size);
        const uint8_t* data = joins ? join(chunk, chunk.size) : chunk.data + at;
        const int64_t begin = joins ? -int64_t(chunk.carry_size) : int64_t(at);
        place(chunk, begin);
        const std::vector<std::unique_ptr<uint8_t[]>> kept = std::move(joined_);
        joined_.clear();
        for (size_t used = decoder_.index_unterminated(data, size); used < size;) {  // something in it was never closed
            if (full()) hand_out();
            const size_t more = decoder_.index(data + used, size - used, limits_.max_rows - decoder_.rows());
            used += more;
            if (more == 0 && !full() && !make_room(size - used))
                used += decoder_.index_unterminated(data + used, size - used);
        }
        decoder_.materialize();  // it refers to bytes that are kept no longer
        if (joins) out_->spanning += decoder_.records_placed();
    }

    // For so many bytes more in the batch. Whether some had to be made.
    bool make_room(size_t size) {
        if (decoder_.rows() == 0 || decoder_.fits(size)) return false;
        hand_out();
        return true;
    }

    bool full() const {
        return decoder_.rows() >= limits_.max_rows || decoder_.byte_count() >= limits_.max_batch_bytes;
    }

    const RecordEnding& ending_;
    RecordDecoder& decoder_;
    const ChunkLimits& limits_;
    ChunkRows* out_;
    struct ChunkPlace {
        size_t chunk;
        StretchPosition begin;
    };
    std::vector<ChunkPlace> places_;  // that the decoder was told of
    std::vector<std::unique_ptr<uint8_t[]>> joined_;  // rows that wait in the decoder may point into these
    size_t number_ = 0;  // of the chunk that is being read
    uint64_t records_ = 0;
    uint64_t handed_out_ = 0;
    bool stream_start_ = false;
};

}  // namespace

void read_chunks(const RecordFormat& format, RecordDecoder& decoder, const PlacedChunk* chunks, size_t count,
                 const ChunkLimits& limits, ChunkRows* out) {
    ChunkReading reading(format.ending, decoder, limits, out);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += chunks[i].carry_size + chunks[i].size;
    decoder.expect(bytes);
    for (size_t i = 0; i < count; i++) {
        reading.read(i, chunks[i]);
        if (limits.count_rows) out->rows_through.push_back(reading.rows());
    }
    reading.hand_out();
    reading.take_findings();
}

}  // namespace formatter
