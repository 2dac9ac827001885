#include "engine/stream/run_parsing.hpp"

#include <algorithm>

#include "engine/stream/piece_joiner.hpp"

namespace formatter {

void RunJob::parse(const StreamOptions& options, StreamCall& call) { RunParsing(options, *this, call).parse(); }

void LeadingJob::parse(const StreamOptions& options, StreamCall& call) {
    RunParsing(options, *this, call).parse_leading(*this);
}

void RunParsing::parse() {
    decoder().count_all_quotes(job_.by_parity);
    if (job_.bytes > options_.max_record_bytes) {
        parse_with_limit();
    } else if (job_.bytes) {
        call_.place(job_, {job_.records_from, job_.offset}, job_.stream_start, job_.bytes);
        options_.format.ending.looks_ahead() ? index_settled(joined(), job_.bytes) : parse_pieces();
        job_.records = decoder().records_placed();
    }
    if (options_.format.ends_as_told && used_ < job_.bytes) {
        RunPosition unread{job_.records_from, job_.offset + int64_t(used_), job_.records};
        unread.buffer = job_.run_last;
        call_.refuse_unread(job_, unread);
    }
    cover_rest();
}

// The bytes of all pieces, one behind the other.
const uint8_t* RunParsing::joined() {
    if (job_.pieces.size() == 1) return job_.pieces[0].data;
    OwnedBytes whole;
    whole.reserve(job_.bytes, 0);
    for (const Piece& piece : job_.pieces) whole.append(piece.data, piece.size);
    call_.owners.push_back(std::move(whole));
    return call_.owners.back().data();
}

// Bytes that end with a record, whatever is open in them: then it is never closed.
void RunParsing::index_settled(const uint8_t* data, size_t size) {
    for (size_t done = index(data, size); done < size; done += index(data + done, size - done)) {
        const size_t given_up = decoder().index_unterminated(data + done, size - done);
        done += given_up;
        used_ += given_up;
    }
}

void RunParsing::parse_pieces() {
    const std::vector<Piece>& pieces = job_.pieces;
    if (pieces.size() == 1) return void(index(pieces[0].data, pieces[0].size));
    PieceJoiner joiner(this);
    for (size_t i = 0; i < pieces.size(); i++) {
        Piece piece = pieces[i];
        while (i + 1 < pieces.size() && pieces[i + 1].data == piece.data + piece.size) piece.size += pieces[++i].size;
        joiner.add(piece);
    }
    joiner.index_open(true);
    joiner.end();
}

void RunParsing::parse_leading(LeadingJob& job) {
    decoder().count_all_quotes(false);  // nobody has looked
    call_.place(job, {job.records_from, job.offset}, false, job.bytes);
    PieceJoiner joiner(this);
    for (const Piece& piece : job.pieces) {
        joiner.add(piece);
        joiner.index_open(true);
        job.used.push_back(used_);
    }
    job.tail.append(joiner.open(), joiner.open_size());
    joiner.end();
    job.records = decoder().records_placed();
    if (job.tail.size) options_.format.ending.ends_after(job.tail.data(), job.tail.size, &job.state);
    cover_rest();
}

size_t RunParsing::index(const uint8_t* data, size_t size) {
    size_t done = 0;
    while (done < size) {
        const uint64_t room = options_.max_rows > decoder().rows() ? options_.max_rows - decoder().rows() : 0;
        const size_t more = room ? decoder().index(data + done, size - done, room) : 0;
        done += more;
        used_ += more;
        const auto must_leave = [&] {
            return builder_.is_full(options_) || (more == 0 && !builder_.takes(size - done));
        };
        if (must_leave()) {
            decoder().materialize();
            if (must_leave()) export_full();  // else a filter made room
        } else if (more == 0) {
            break;  // the rest is no complete record
        }
    }
    return done;
}

void RunParsing::export_full() {
    cover_through(used_);
    builder_.export_to(&call_.batches, options_);
    // Room for the next one, which will be alike, is made at once.
    builder_.full_bytes = builder_.bytes + (used_ - exported_);
    builder_.bytes = 0;
    exported_ = used_;
    if (builder_.large) decoder().expect(builder_.full_bytes);
}

// A buffer belongs to the batch in which the last of its own records stands.
void RunParsing::cover_through(uint64_t used) {
    if (job_.pieces.empty()) return;
    if (!lead_covered_) builder_.cover(job_.run_first, job_.piece_position - 1);
    lead_covered_ = true;
    for (; pieces_covered_ < job_.pieces.size(); pieces_covered_++) {
        const uint64_t end = bytes_covered_ + job_.pieces[pieces_covered_].size;
        if (end > used) return;
        bytes_covered_ = end;
        if (pieces_covered_ < job_.pieces_before) continue;
        const uint64_t position = job_.piece_position + (pieces_covered_ - job_.pieces_before);
        builder_.cover(position, position);
    }
}

void RunParsing::cover_rest() {
    cover_through(job_.bytes);
    const uint64_t behind = job_.piece_position + (job_.pieces.size() - job_.pieces_before);
    builder_.cover(job_.pieces.empty() ? job_.run_first : behind, job_.run_last);
    builder_.bytes += job_.bytes - exported_;
}

// A record of these bytes may be longer than the stream allows.
void RunParsing::parse_with_limit() {
    const RecordEnding& ending = options_.format.ending;
    const uint8_t* const data = joined();
    const auto position = [&](size_t at) {
        return RunPosition{job_.records_from, job_.offset + int64_t(at), job_.records};
    };
    size_t begin = 0, at = 0;
    const auto index_up_to = [&](size_t end) {
        if (end == begin) return;
        call_.place(job_, position(begin), job_.stream_start && begin == 0, 0);
        used_ = begin;
        ending.looks_ahead() ? index_settled(data + begin, end - begin) : void(index(data + begin, end - begin));
        job_.records += decoder().records_placed();
    };
    while (at < job_.bytes) {
        uint64_t size;
        const bool is_preamble = at == 0 && job_.stream_start && options_.format.header;
        if (is_preamble) {
            PreambleScan preamble;
            size = options_.format.header->find_end(data, job_.bytes, job_.bytes, &preamble);
        } else {
            ScanState state = at == 0 && job_.stream_start ? ScanState::of_stream_start() : ScanState();
            size = ending.size_of_first(data + at, job_.bytes - at, &state);
        }
        if (size == RecordEnds::none) break;  // cannot be: a run's own records end where it says
        if (!is_preamble && size - ending.record_end_size > options_.max_record_bytes) {
            index_up_to(at);
            RunPosition where = position(at);
            where.buffer = job_.buffer_of(ending, PlacePosition{}, where.bytes, true);
            const size_t shown = std::min<size_t>({size, partial_raw_most, options_.max_record_bytes});
            call_.reject(job_, Finding::of_record(ErrorCode::record_too_long, data + at, shown), where);
            job_.records++;
            begin = at + size;
        }
        at += size;
    }
    index_up_to(job_.bytes);
}

uint64_t RunJob::buffer_of(const RecordEnding& ending, const PlacePosition& found, int64_t begin,
                           bool whole_record) const {
    if (run_first == run_last) return run_first;
    const bool end_known = found.record_end >= 0;
    uint64_t skip = uint64_t(begin - offset + (end_known ? found.record_end - 1 : found.bytes));
    ScanState state;
    state.at_record_start = whole_record;
    for (size_t i = 0; i < pieces.size(); i++) {
        const Piece& piece = pieces[i];
        if (skip >= piece.size) {
            skip -= piece.size;
            continue;
        }
        // From here the record goes on to its end.
        if (end_known || ending.record_size(piece.data + skip, piece.size - skip, &state) != RecordEnds::none)
            return piece_position + (i - pieces_before);
        skip = 0;
    }
    return run_first;
}

}  // namespace formatter
