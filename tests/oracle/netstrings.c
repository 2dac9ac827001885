/* Netstrings of fields between pipes, `5:a|b|c,`: an indexer in C. In: bytes. Out: what formatter.h asks for. A netstring that
 * begins with ! is bad. */
#include <string.h>

#include "formatter.h"

/* Where the netstring ends that begins there, 0 if these bytes do not have it, -1 if it is none; *text: where its fields begin. */
static int64_t end_of(const uint8_t *data, size_t size, size_t at, size_t *text) {
    uint64_t length = 0;
    for (; at < size && data[at] != ':'; at++) {
        if (data[at] < '0' || data[at] > '9' || length > UINT32_MAX) return -1;
        length = 10 * length + (data[at] - '0');
    }
    *text = at + 1;
    return at + 1 + length + 1 <= size ? (int64_t)(at + 1 + length + 1) : 0;
}

static int64_t index_records(void *context, formatter_records *r) {
    size_t at = 0, text;
    uint32_t count = 0;
    (void)context;
    for (; at < r->size && count < r->capacity; count++) {
        const int64_t end = end_of(r->data, r->size, at, &text);
        uint32_t *spans = r->spans + 2 * (size_t)count * r->field_count;
        if (end < 0) {
            strcpy(r->message, "no netstring");
            return -1;
        }
        if (end == 0) break;
        for (uint32_t f = 0; f < r->field_count; f++) spans[2 * f] = FORMATTER_ABSENT;
        for (uint32_t number = 0, begin = (uint32_t)text, i = begin; i < (uint32_t)end; i++) {
            if (r->data[i] != '|' && i + 1 != (uint32_t)end) continue;
            for (uint32_t f = 0; f < r->field_count; f++)
                if (r->fields[f] == number) spans[2 * f] = begin, spans[2 * f + 1] = i;
            begin = i + 1;
            number++;
        }
        if (r->data[text] == '!') r->kinds[count] = FORMATTER_BAD_RECORD;
        r->ends[count] = (uint32_t)end;
        at = (size_t)end;
    }
    return count;
}

/* In the state: twice the digits of a length so far; or twice the bytes to come, and one more. */
static int scan_ends(void *context, formatter_ends *e) {
    (void)context;
    for (size_t at = 0; at < e->size;) {
        if (!(e->state & 1)) {
            const uint8_t byte = e->data[at++];
            if (byte == ':')
                e->state = 2 * (e->state / 2 + 1) + 1;
            else if (byte >= '0' && byte <= '9')
                e->state = 2 * (10 * (e->state / 2) + (byte - '0'));
            else
                return -1;
            continue;
        }
        const uint64_t left = e->state / 2, step = left < e->size - at ? left : e->size - at;
        at += step;
        e->state -= 2 * step;
        if (e->state != 1) break;
        e->state = 0;
        if (e->first > e->size) e->first = at;
        e->last = at;
    }
    return 0;
}

const formatter_indexer netstrings = {FORMATTER_VERSION, NULL, index_records, scan_ends};

/* Lines that end where the bytes say, of fields between pipes; without a scan. */
static int64_t index_lines(void *context, formatter_records *r) {
    uint32_t count = 0, begin = 0;
    (void)context;
    if (r->size / 8 > r->capacity && !r->reserve(r, (uint32_t)r->size / 8)) return -1;
    while (begin < r->size) {
        const uint32_t end = (uint32_t)((const uint8_t *)memchr(r->data + begin, '\n', r->size - begin) - r->data);
        for (uint32_t f = 0; f < r->field_count; f++) {
            uint32_t at = begin, number = 0;
            for (; at < end && number < r->fields[f]; at++) number += r->data[at] == '|';
            uint32_t stop = at;
            while (stop < end && r->data[stop] != '|') stop++;
            uint32_t *span = r->spans + 2 * ((size_t)count * r->field_count + f);
            span[0] = number == r->fields[f] ? at : FORMATTER_ABSENT;
            span[1] = stop;
        }
        r->ends[count++] = begin = end + 1;
        if (count == r->capacity) break;
    }
    return count;
}

const formatter_indexer lines = {FORMATTER_VERSION, NULL, index_lines, NULL};

/* Promises more than is there. */
static int64_t index_too_much(void *context, formatter_records *r) {
    (void)context;
    r->ends[0] = (uint32_t)r->size + 7;
    return 1;
}

const formatter_indexer careless = {FORMATTER_VERSION, NULL, index_too_much, NULL};
const formatter_indexer of_tomorrow = {FORMATTER_VERSION + 1, NULL, index_too_much, NULL};

/* 1.25 as 125. */
static void parse_cents(void *context, formatter_texts *t) {
    int64_t *values = t->values;
    (void)context;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint8_t *at = t->text + t->offsets[i], *end = t->text + t->offsets[i + 1];
        int fine = end - at >= 4 && end[-3] == '.';
        if (t->present && !(t->present[i / 8] >> i % 8 & 1)) continue;
        for (; fine && at < end; at++) {
            if (at == end - 3) continue;
            fine = *at >= '0' && *at <= '9';
            values[i] = 10 * values[i] + (*at - '0');
        }
        if (!fine) t->failed[i / 8] |= (uint8_t)(1 << i % 8);
    }
}

const formatter_parser cents = {FORMATTER_VERSION, NULL, parse_cents};
