// The seams of the engine under a fuzzer. In: any bytes. Out: nothing, or an abort with what differed. Each target holds several
// ways against each other: kernels, the whole input, any cut in any order, a naive model. Refuses to know which input is good.
//
// FUZZ_TARGET names the target: csv, json, binary, numbers, shredder, shredder_image, checkpoint.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "engine/shred/shred_ring.hpp"
#include "engine/stream/state_image.hpp"
#include "engine/stream/stream_engine.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/whole/range_reader.hpp"
#include "formats.hpp"

using namespace formatter;

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

std::vector<const Kernel*> kernels() {
    size_t count = 0;
    const Kernel* const* all = available_kernels(&count);
    return {all, all + count};
}

Outcome read_whole(const ChosenFormat& chosen, const Kernel* kernel, const uint8_t* data, size_t size) {
    Outcome outcome;
    RecordFormat format = chosen.for_kernel(kernel);
    size_t begin = 0;
    if (format.header && size) {
        const Preamble preamble = format.header->read(data, size, Extent::whole);
        if (!preamble.complete) return outcome;
        begin = preamble.size;
        format = *preamble.format;
    }
    RangeRequest request;
    request.data = data;
    request.size = request.end = size;
    request.begin = begin;
    request.begins_record = request.input_ends = true;
    request.stream_start = begin == 0;
    request.max_rows = 1000;
    const auto decoder = format.make_decoder();
    RangeResult result = read_range(format, *decoder, request);
    for (const OwnedArray& batch : result.batches) outcome.add_batch(batch, chosen.shapes);
    for (const auto& found : result.findings) outcome.add_finding(found, found.at.bytes, found.at.records);
    outcome.records = result.counters.records;
    return outcome;
}

void take(PushResult&& result, const ChosenFormat& chosen, Outcome* outcome) {
    for (const FinishedBatch& batch : result.batches) outcome->add_batch(batch.array, chosen.shapes);
    for (const OriginFinding& found : result.findings)
        outcome->add_finding(found.what, found.what.at.bytes, found.what.at.records);
}

// Cut where the choices say, in an order that they decide, with a checkpoint on the way if they want one.
Outcome read_cut(const ChosenFormat& chosen, const Kernel* kernel, Choices choices, const uint8_t* data, size_t size) {
    StreamOptions options;
    options.format = chosen.for_kernel(kernel);
    options.ordered = choices.yes();
    options.max_record_bytes = 64 << 20;
    options.max_pending_bytes = 1 << 30;
    options.max_rows = 1 + choices.below(100);
    std::vector<std::vector<uint8_t>> pieces;  // each in memory of its own, for the sanitizer to watch its ends
    const unsigned step = 1 + choices.below(40);
    for (size_t at = 0; at < size;) {
        const size_t more = std::min<size_t>(size - at, choices.below(4) ? step : choices.below(200));
        pieces.emplace_back(data + at, data + at + more);
        at += more;
        if (pieces.size() > 2000) break;
        if (at < size && pieces.size() == 2000) pieces.emplace_back(data + at, data + size), at = size;
    }
    std::vector<uint32_t> order(pieces.size());
    for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
    const unsigned way = choices.below(4);
    if (way == 1) std::reverse(order.begin(), order.end());
    if (way >= 2)
        for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[choices.below(256) * 2654435761u % i]);
    auto engine = std::make_unique<StreamEngine>(options);
    Outcome outcome;
    uint64_t records = 0;
    const bool saves = choices.below(4) == 1, many = choices.yes();
    for (size_t i = 0; i < order.size();) {
        const size_t together = many ? std::min<size_t>(1 + choices.below(9), order.size() - i) : 1;
        std::vector<PushedBuffer> buffers;
        for (size_t j = i; j < i + together; j++)
            buffers.push_back({0, order[j] + 1, pieces[order[j]].data(), pieces[order[j]].size()});
        PushResult pushed = engine->push(buffers.data(), buffers.size());
        if (pushed.status != PushStatus::ok) fail("a buffer was refused");
        take(std::move(pushed), chosen, &outcome);
        i += together;
        if (saves && choices.below(8) == 1) {
            PushResult left;
            const std::string image = engine->checkpoint(&left);
            take(std::move(left), chosen, &outcome);
            engine = std::make_unique<StreamEngine>(options);
            if (!engine->restore(image)) fail("a checkpoint could not be read");
        }
    }
    PushResult finished = engine->finish(0, true, pieces.size());
    if (finished.status != PushStatus::ok) fail("finish was refused");
    take(std::move(finished), chosen, &outcome);
    records = engine->counts().decode.records;
    outcome.records = records;
    return outcome;
}

void check_format(ChosenFormat (*choose)(Choices&), const uint8_t* bytes, size_t size) {
    Choices choices(bytes, size);
    const ChosenFormat chosen = choose(choices);
    Choices cuts = choices;
    for (int i = 0; i < 24; i++) choices.below(2);  // the cuts' own
    // Behind each other in memory of their own: nothing outside may be looked at.
    const std::vector<uint8_t> data(choices.data(), choices.data() + choices.size());
    const std::vector<const Kernel*> all = kernels();
    Outcome whole = read_whole(chosen, all.back(), data.data(), data.size());
    whole.sort();
    for (const Kernel* kernel : all) {
        Outcome other = read_whole(chosen, kernel, data.data(), data.size());
        other.sort();
        if (other == whole) continue;
        whole.print_difference(all.back()->name, other, kernel->name);
        fail("kernels differ");
    }
    const auto header = chosen.for_kernel(all[0]).header;
    bool readable = true;  // a header that is missing, or lacks a column, readers and streams say each in their way
    if (header) {
        const Preamble preamble = header->read(data.data(), data.size(), Extent::whole);
        readable = preamble.complete && preamble.missing.empty();
    }
    Outcome cut = read_cut(chosen, all[cuts.below(unsigned(all.size()))], cuts, data.data(), data.size());
    cut.sort();
    if (whole == cut || !readable) return;
    whole.print_difference("whole", cut, "cut");
    fail("what came out depends on the cut");
}

// One field, exactly: against the C library, and against a second reading of the same digits.
void check_numbers(const uint8_t* bytes, size_t size) {
    Choices choices(bytes, size);
    const std::string text(reinterpret_cast<const char*>(bytes), std::min<size_t>(size, 400));
    const std::vector<uint8_t> copy(text.begin(), text.end());
    if (text.size() >= 300) return;
    const Bytes field{copy.data(), copy.size()};
    int64_t integer = 0;
    const ErrorCode code = parse_integer(field, range_of<int64_t>(), &integer);
    char* end = nullptr;
    errno = 0;
    const long long theirs = std::strtoll(text.c_str(), &end, 10);
    const bool spaced = text.empty() || !(text[0] == '-' || text[0] == '+' || (text[0] >= '0' && text[0] <= '9'));
    const bool all = end == text.c_str() + text.size() && text.find('\0') == std::string::npos;
    if (!spaced && all) {
        if (errno == ERANGE ? code != ErrorCode::overflow : code != ErrorCode::none || integer != theirs)
            fail("an integer is not what the C library reads");
    } else if (code == ErrorCode::none) {
        fail("what is no integer was read as one");
    }
    double real = 0;
    const ErrorCode float_code = parse_float(field, double_bits, '.', &real);
    const bool decimal = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (float_code == ErrorCode::none && decimal) {
        const double other = std::strtod(text.c_str(), &end);
        if (end != text.c_str() + text.size() || std::memcmp(&other, &real, 8) != 0)
            fail("a float is not the nearest one");
    }
    __int128 exact = 0;
    parse_decimal(field, uint8_t(1 + choices.below(38)), int(choices.below(20)) - 4, '.', &exact);
}

// Against a model that remembers everything: claims, refusals, the prefix.
void check_shredder(const uint8_t* bytes, size_t size) {
    Choices choices(bytes, size);
    ShredRing ring;
    std::map<uint64_t, bool> seen;
    std::set<std::pair<uint64_t, uint64_t>> claimed;
    const auto claims_of = [&seen] {
        std::set<std::pair<uint64_t, uint64_t>> found;
        uint64_t open = 1, next = 1;
        for (const auto& [position, delimited] : seen) {
            if (position != next) open = 0;
            next = position + 1;
            if (!delimited) {
                if (open == 0) continue;
                continue;
            }
            if (open && open != position) found.insert({open, position});
            open = position;
        }
        return found;
    };
    while (choices.size() >= 2) {
        const uint64_t ahead = choices.below(256);
        const bool delimited = ahead & 1;
        const uint64_t position = ring.prefix() + 1 + (ahead >> 1) * (1 + choices.below(4) * 40);
        Claims claims{};
        const auto status = ring.process(position, delimited, claims);
        if (seen.count(position) ? status != ShredRing::Status::duplicate : status != ShredRing::Status::ok)
            fail("the shredder took or refused wrongly");
        if (status != ShredRing::Status::ok) continue;
        seen[position] = delimited;
        std::set<std::pair<uint64_t, uint64_t>> now = claims_of();
        for (uint32_t i = 0; i < claims.count; i++)
            if (!claimed.insert({claims.spans[i].first, claims.spans[i].last}).second)
                fail("a record was claimed twice");
        if (claimed != now) fail("claims are not those of the model");
        uint64_t prefix = 0;
        while (seen.count(prefix + 1)) prefix++;
        if (ring.prefix() != prefix) fail("the prefix is not that of the model");
        if (seen.size() > 300) return;
    }
}

void check_shredder_image(const uint8_t* bytes, size_t size) {
    std::vector<uint8_t> image(bytes, bytes + size);
    if (size >= 56) {  // behind the checksum
        uint64_t sum = 0xcbf29ce484222325u;
        for (size_t i = 0; i < size - 8; i++) sum = (sum ^ image[i]) * 0x100000001b3u;
        std::memcpy(image.data() + size - 8, &sum, 8);
        std::memcpy(image.data(), "FmSR\1\0", 6);
        sum = 0xcbf29ce484222325u;
        for (size_t i = 0; i < size - 8; i++) sum = (sum ^ image[i]) * 0x100000001b3u;
        std::memcpy(image.data() + size - 8, &sum, 8);
    }
    ShredRing ring;
    if (ShredRing::restore(image.data(), image.size(), ring) != ShredRing::RestoreStatus::ok) return;
    std::vector<uint8_t> again(ring.serialized_size());
    ring.serialize(again.data(), image[6]);
    if (again != image) fail("a shredder that was restored saves itself otherwise");
    for (int i = 0; i < 200; i++) {
        Claims claims{};
        ring.process(ring.prefix() + 1, i % 3 == 0, claims);
    }
}

// A state that a stream could have saved, some of its bytes changed, the checksum mended: it is refused, or goes on somehow.
void check_checkpoint(const uint8_t* bytes, size_t size) {
    Choices choices(bytes, size);
    const unsigned kind = choices.below(3);
    const ChosenFormat chosen = kind == 0   ? choose_csv(choices)
                                : kind == 1 ? choose_json(choices)
                                            : choose_binary(choices);
    StreamOptions options;
    options.format = chosen.for_kernel(kernels().back());
    options.ordered = choices.yes();
    options.max_record_bytes = 1000;
    options.max_pending_bytes = 1 << 20;
    StreamEngine engine(options);
    std::vector<std::pair<uint32_t, uint8_t>> changes;
    for (unsigned i = choices.below(8); i > 0; i--) {
        const uint32_t place = choices.below(256) << 8 | choices.below(256);
        changes.push_back({place, uint8_t(choices.below(256))});
    }
    const std::vector<uint8_t> data(choices.data(), choices.data() + choices.size());
    for (size_t at = 0; at < data.size(); at += 7) {
        const PushedBuffer buffer{at % 3, 1 + (at / 7 * 5) % 31, data.data() + at,
                                  std::min<size_t>(7, data.size() - at)};
        engine.push(&buffer, 1);
    }
    PushResult left;
    std::string image = engine.checkpoint(&left);
    if (image.size() < 24) fail("a checkpoint is too short");
    for (const auto& [place, value] : changes) image[8 + place % (image.size() - 16)] = char(value);
    const uint64_t sum = checksum64(image.data(), image.size() - 8);
    std::memcpy(&image[image.size() - 8], &sum, 8);
    StreamEngine restored(options);
    if (!restored.restore(image)) return;
    static const uint8_t more[] = "1,2\n{}\"\n";
    for (uint64_t origin = 0; origin < 3; origin++) {
        for (uint64_t sequence = 1; sequence < 40; sequence++) {
            const PushedBuffer buffer{origin, sequence, more, sizeof more - 1};
            restored.push(&buffer, 1);
        }
        restored.finish(origin, false, 0);
    }
    PushResult again;
    restored.checkpoint(&again);
}

void run_target(const uint8_t* bytes, size_t size) {
    static const std::string target = std::getenv("FUZZ_TARGET") ? std::getenv("FUZZ_TARGET") : "";
    if (target == "csv") return check_format(choose_csv, bytes, size);
    if (target == "json") return check_format(choose_json, bytes, size);
    if (target == "binary") return check_format(choose_binary, bytes, size);
    if (target == "numbers") return check_numbers(bytes, size);
    if (target == "shredder") return check_shredder(bytes, size);
    if (target == "shredder_image") return check_shredder_image(bytes, size);
    if (target == "checkpoint") return check_checkpoint(bytes, size);
    std::fprintf(stderr, "FUZZ_TARGET: expected csv, json, binary, numbers, shredder, shredder_image or checkpoint\n");
    std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    run_target(bytes, size);
    return 0;
}
