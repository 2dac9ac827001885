# In: what a shredder's ring answered, and its state. Out: the error to raise, or the state as a drawing.
# Raises nothing itself. Every refusal leaves the ring as it was.
from formatter.errors import FormatError, SequenceError

cdef int SHRED_NAMED_HOLES = 5  # an error names this many holes; holes() gives all


cdef str shred_state_in_words(ShredFacts facts):
    if not facts.highest_position:
        return "no buffer seen yet"
    complete = f"complete up to {facts.prefix}" if facts.prefix else "buffer 1 not seen"
    return f"{complete}, {facts.pending} waiting beyond"


cdef object shred_refusal(ShredStatus status, sequence, ShredFacts facts, str place=""):
    state = shred_state_in_words(facts)
    expected = facts.prefix % facts.max_sequence + 1 if facts.max_sequence else facts.prefix + 1
    if status == ShredStatus.no_memory:
        return MemoryError(f"shredder: sequence {sequence}{place}: no memory to widen the window ({state})")
    if status == ShredStatus.duplicate:
        why = ("expected one not seen before, found a duplicate; "
               "give each buffer once, or set on_duplicate='ignore'")
    elif status == ShredStatus.zero:
        why = "expected 1 or more, found 0; number each origin's buffers from 1"
    elif status == ShredStatus.finished:
        why = (f"expected none after finish({facts.prefix}), found {sequence}; "
               "finish with the last sequence, or use a new shredder for a new stream")
    elif facts.max_sequence and sequence > facts.max_sequence:
        why = f"expected 1 to max_sequence={facts.max_sequence}, found {sequence}; wrap to 1 after it, or raise it"
    elif facts.max_sequence and (sequence - expected) % facts.max_sequence >= (facts.max_sequence + 1) // 2:
        why = (f"expected {expected} or one less than half a round ahead of it, found one behind the first buffer; "
               "begin with 1, or raise max_sequence")
    else:
        why = (f"expected one less than {facts.reach} ahead of {expected}, the first missing one, "
               f"found {(sequence - expected) % (facts.max_sequence or 2**64)} ahead; "
               f"deliver {expected} first (holes() lists what is missing)")
    return SequenceError(f"shredder: sequence {sequence}{place}: {why} ({state})", sequence=int(sequence))


cdef object shred_finish_refusal(ShredStatus status, last, ShredFacts facts, tuple holes):
    state = shred_state_in_words(facts)
    sequence = last
    if status == ShredStatus.finished:
        why = f"expected one finish, found a second (the first was finish({facts.prefix})); use a new shredder"
    elif status == ShredStatus.beyond:
        why = f"expected the last sequence, found one below {facts.highest}, already seen; finish({facts.highest})"
    elif status == ShredStatus.hole:
        sequence = holes[0][0]
        named = ", ".join(str(a) if a == b else f"{a}..{b}" for a, b in holes[:SHRED_NAMED_HOLES])
        more = f" and {len(holes) - SHRED_NAMED_HOLES} more" if len(holes) > SHRED_NAMED_HOLES else ""
        why = (f"expected every sequence up to {last}, found holes: {named}{more}; "
               "deliver them, then finish again")
    else:
        why = (f"expected a sequence of this stream, 1 to {facts.max_sequence}, found {last}; "
               "finish with the sequence of the last buffer")
    return SequenceError(f"shredder: finish({last}): {why} ({state})", sequence=int(sequence))


cdef object shred_restore_refusal(ShredRestoreStatus status, size):
    if status == ShredRestoreStatus.no_memory:
        return MemoryError("shredder: restore: no memory for the window of the snapshot")
    if status == ShredRestoreStatus.truncated:
        code, expected, found = "snapshot_truncated", "a whole snapshot", f"one cut off at {size} bytes"
    elif status == ShredRestoreStatus.not_a_snapshot:
        code, expected = "snapshot_foreign", "bytes of SequenceShredder.snapshot()"
        found = f"{size} bytes of another kind"
    elif status == ShredRestoreStatus.wrong_version:
        code, expected, found = "snapshot_version", "snapshot version 1", "another version"
    else:
        code, expected, found = "snapshot_corrupt", "the bytes as they were saved", "a checksum or state that is wrong"
    return FormatError(
        f"shredder: restore: expected {expected}, found {found}; restore an earlier snapshot, or begin anew",
        code=code, expected=expected, found=found)


cdef str shred_drawing(ShredFacts facts, list rows):
    waiting = facts.highest_position - facts.prefix_position
    lines = [
        f"complete up to {facts.prefix}, last delimiter there in {facts.last_delimiter or 'none'}; "
        f"{facts.pending} waiting beyond, {waiting - facts.pending} missing; {facts.slots} slots"
        f"{'; finished' if facts.finished else ''}"]
    for start in range(0, len(rows[0]), 64):
        position = facts.prefix_position + start
        first = position % facts.max_sequence + 1 if facts.max_sequence else position + 1
        heads = (f"from {first}", "seen", "has_delimiter")
        lines += [f"{head:<14} {row[start:start + 64]}" for head, row in zip(heads, rows)]
    if waiting > len(rows[0]):
        lines.append(f"... {waiting - len(rows[0])} more columns")
    return "\n".join(lines)
