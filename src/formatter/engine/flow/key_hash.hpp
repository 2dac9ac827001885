// In: key values as canonical bytes, one running hash per row. Out: XXH64 of the bytes, seeded with the running hash, so
// columns chain: hash(a, b) = XXH64(b, seed = XXH64(a, seed = first)). Refuses to know Arrow types and null policy.
//
// With the first seed 42, 4-byte integers and floats as 4 bytes, 8-byte ones as 8, text and binary as they are, and a null
// leaving the hash as it was, this is bit for bit the hash Spark computes as xxhash64(columns).
#pragma once
#include <cstddef>
#include <cstdint>

namespace formatter {

uint64_t xxh64(const void* bytes, size_t size, uint64_t seed);

// `hashes[i]` is the seed on entry and the hash on return. `valid` is an Arrow bitmap (null: every value is valid) read
// from bit `offset`; values and value offsets are read from element `offset` as well.
void hash_fixed(const uint8_t* values, int width, const uint8_t* valid, int64_t offset, int64_t rows, uint64_t* hashes);
void hash_bytes(const uint8_t* bytes, const int64_t* value_offsets, const uint8_t* valid, int64_t offset, int64_t rows,
                uint64_t* hashes);

}  // namespace formatter
