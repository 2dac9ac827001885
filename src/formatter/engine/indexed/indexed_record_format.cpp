#include "engine/indexed/indexed_record_format.hpp"

#include "engine/csv/csv_record_format.hpp"
#include "engine/indexed/indexed_decoder.hpp"

namespace formatter {
namespace {

// In the state: `carried` is the indexer's.
class IndexerScanner : public RecordScanner {
  public:
    explicit IndexerScanner(std::shared_ptr<const Indexer> indexer) : indexer_(std::move(indexer)) {}

    RecordEnds scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const override {
        RecordEnds ends;
        if (size == 0) return ends;
        formatter_ends found = ask(data, size, state->carried);
        if (found.first <= size && found.first > 0) {
            // What comes behind the first end may be of another kind.
            if (first_only && found.first < size) found = ask(data, found.first, state->carried);
            ends.add(found.first);
            if (!first_only) ends.add(found.last <= size && found.last > found.first ? found.last : found.first);
        }
        state->carried = found.state;
        return ends;
    }

  private:
    static constexpr size_t none = ~size_t(0);

    formatter_ends ask(const uint8_t* data, size_t size, uint64_t state) const {
        formatter_ends found{data, size, state, none, none};
        if (indexer_->scan(&found) != 0) found.first = found.last = size, found.state = 0;
        return found;
    }

    std::shared_ptr<const Indexer> indexer_;
};

}  // namespace

RecordFormat indexed_record_format(std::shared_ptr<const IndexedFormat> indexed) {
    RecordFormat format = csv_record_format(indexed->fields, TextEncoding::utf8);
    if (indexed->scans) {
        format.ending.kind = EndingKind::scanned;
        format.ending.record_end_size = 0;
        format.ending.scanner = std::make_shared<IndexerScanner>(indexed->indexer);
    }
    format.ends_as_told = true;
    format.make_decoder = [indexed] { return std::unique_ptr<RecordDecoder>(new IndexedDecoder(indexed)); };
    return format;
}

}  // namespace formatter
