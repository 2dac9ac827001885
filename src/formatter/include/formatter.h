/* Formats and parsers of one's own, in C or in what can speak it. In: bytes, or texts. Out: where records and fields stand, or
 * values. Refuses to know Python, Arrow and the engine: this file is all that is shared with them.
 *
 * An object with a method __formatter_indexer__ that returns a PyCapsule named FORMATTER_INDEXER, which points to a
 * formatter_indexer, is what fm.register_format takes; __formatter_parser__, FORMATTER_PARSER and formatter_parser are the same
 * for fm.register_parser. What a capsule points to lives as long as the capsule. All functions are called by any thread, by
 * several at once and without the GIL; they depend on nothing but what they are given. */
#ifndef FORMATTER_H
#define FORMATTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORMATTER_VERSION 1
#define FORMATTER_INDEXER "formatter.indexer"
#define FORMATTER_PARSER "formatter.parser"
#define FORMATTER_ABSENT UINT32_MAX /* as a field's begin: the record has none */
#define FORMATTER_MESSAGE_BYTES 256

enum { FORMATTER_RECORD = 0, FORMATTER_NO_RECORD = 1, FORMATTER_BAD_RECORD = 2 };

/* Bytes that begin at a record, and room for what stands in them. Positions count from their begin. */
typedef struct formatter_records {
    const uint8_t *data;
    size_t size;             /* less than 2 GiB */
    const uint32_t *fields;  /* that are wanted: their positions in a record */
    uint32_t field_count;
    uint32_t capacity;       /* records that have room; those that have none are asked for again */
    uint32_t *ends;          /* out, a record: the position behind its last byte */
    uint32_t *spans;         /* out, a record: begin and end of each wanted field, within the record */
    uint8_t *kinds;          /* out, a record: FORMATTER_RECORD, which they all are at first, or another kind */
    char message[FORMATTER_MESSAGE_BYTES]; /* out, with a failure: what failed, as text that ends with a 0 */
    /* Makes room for so many records, and forgets what was written. Returns 0 if there is no memory: then return -1. */
    int (*reserve)(struct formatter_records *, uint32_t capacity);
} formatter_records;

/* Bytes that may begin anywhere in a record. */
typedef struct formatter_ends {
    const uint8_t *data;
    size_t size;
    uint64_t state; /* in: where the bytes begin; 0 where a record does. out: where they end */
    size_t first, last; /* out: positions behind the first and the last record end; as they are if there is none */
} formatter_ends;

typedef struct formatter_indexer {
    uint32_t version; /* FORMATTER_VERSION */
    void *context;
    /* Returns how many whole records it wrote, all that are there or as many as have room; or -1. */
    int64_t (*index)(void *context, formatter_records *);
    /* NULL for formats whose records end with the same bytes wherever these stand. Returns 0; -1 if the bytes are no such
     * records: they then end one. */
    int (*scan)(void *context, formatter_ends *);
} formatter_indexer;

/* Texts of a column, and room for its values. */
typedef struct formatter_texts {
    uint32_t count;
    const int32_t *offsets; /* one more than texts */
    const uint8_t *text;
    const uint8_t *present; /* a bit a text, a byte's lowest first; NULL: all are there */
    void *values;            /* out, zeroed: as Arrow stores the column's type, of a fixed width */
    uint8_t *failed;         /* out, zeroed: a bit for each text that is no value */
} formatter_texts;

typedef struct formatter_parser {
    uint32_t version;
    void *context;
    void (*parse)(void *context, formatter_texts *);
} formatter_parser;

#ifdef __cplusplus
}
#endif
#endif
