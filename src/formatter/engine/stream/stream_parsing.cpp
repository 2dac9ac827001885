// The third part of a push, without the lock. In: jobs, each with a builder. Out: rows in the builders, findings by run.
// Refuses to know formats, but by the decoder's seam, and other calls.
#include <algorithm>

#include "engine/stream/run_parsing.hpp"
#include "engine/stream/stream_engine.hpp"

namespace formatter {

void StreamEngine::parse(StreamCall& call) const {
    for (const auto& job : call.jobs) job->parse(options_, call);
    for (auto& entry : call.builders) {
        entry.second->decoder->materialize();
        take_findings(*entry.second, call);
    }
    call.places.clear();
}

void SpanningJob::parse(const StreamOptions& options, StreamCall& call) {
    builder->bytes += bytes;
    const RecordEnding& ending = options.format.ending;
    if (whole_bytes() == 0 && !(unterminated && ending.checks_end())) return;
    OwnedBytes stitched;
    const uint8_t* data = pieces.empty() ? nullptr : pieces[0].data;
    if (pieces.size() > 1) {
        stitched.reserve(bytes, 0);
        for (const Piece& piece : pieces) stitched.append(piece.data, piece.size);
        data = stitched.data();
    }
    const uint64_t record_end = unterminated ? 0 : ending.record_end_size;
    const auto from = unterminated ? RunPosition::From::end : RunPosition::From::start;
    const RunPosition begin{from, offset, 0, position};
    if (lost || reported || whole_bytes() - std::min(record_end, bytes) > options.max_record_bytes) {
        // Raw bytes are as many as are there for every chunking.
        const uint64_t most = lost ? partial_raw_most : std::min<uint64_t>(partial_raw_most, options.max_record_bytes);
        const ErrorCode code = lost ? ErrorCode::lost : ErrorCode::record_too_long;
        if (!reported) call.reject(*this, Finding::of_record(code, data, std::min(bytes, most)), begin);
        records = 1;
        return;
    }
    RecordDecoder& decoder = *builder->decoder;
    decoder.count_all_quotes(by_parity);
    const auto must_leave = [&] { return builder->is_full(options) || !builder->takes(bytes); };
    const auto make_room = [&] {
        if (!must_leave()) return;
        decoder.materialize();
        if (must_leave()) builder->export_to(&call.batches, options);
    };
    const auto index = [&](const uint8_t* from, uint64_t size) {
        return decoder.index(from, size, options.max_rows - decoder.rows());
    };
    make_room();
    call.place(*this, begin, stream_start, 0);
    uint64_t used = unterminated ? decoder.index_unterminated(data, bytes) : index(data, bytes);
    // Something in it was never closed: there are records behind it.
    while (used < bytes && (unterminated || ending.looks_ahead())) {
        make_room();
        const uint64_t more = index(data + used, bytes - used);
        used += more ? more : decoder.index_unterminated(data + used, bytes - used);
    }
    records = decoder.records_placed();
    if (options.format.ends_as_told && used < bytes) call.refuse_unread(*this, begin);
    if (stitched.size) call.owners.push_back(std::move(stitched));  // until the builder has materialized
}

// A decoder's findings become those of runs, each with the buffer its record ends in.
void StreamEngine::take_findings(Builder& builder, StreamCall& call) const {
    for (FindingAt<PlacePosition>& found : builder.decoder->findings) {
        const StreamCall::JobPlace& place = call.places[found.at.record.place];
        RunPosition at = place.begin;
        at.buffer = place.job->buffer_of(options_.format.ending, found.at, at.bytes, found.column < 0);
        at.bytes += found.at.bytes;
        at.records += found.at.record.records;
        if (found.column >= 0) found.column = int32_t(builder.plan->column(size_t(found.column)));
        call.findings.push_back({place.job, {std::move(found), at}});
    }
    builder.decoder->findings.clear();
}

}  // namespace formatter
