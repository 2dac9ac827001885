"""Streams of quotes that are seldom astray: most buffers are indexed by parity, those around a stray quote by the rule.

In: records of many shapes, a few of them with a stray or an open quote, cut anywhere. Out: the rows and rejects of the whole.
"""

import random

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string())])
CLEAN = (
    b"1,x\n", b'3,"p\nq"\n', b'"a""b",c\n', b'"long text, with commas, and so on",z\n', b'"l1\nl2",""\n', b"k,v\r\n",
    b'"","x"\r\n', b'"x,",Q\n', b'a,"said ""hi"", twice"\n',
)  # fmt: skip
ASTRAY = (b'2,"y\n', b'"s" t",u\n', b'in"side,q\n', b'"', b'"o,\n', b'x"\n')


def facts(rows, rejects):
    bad = [(r["byte_offset"], r["record"], r["code"], r["raw"]) for r in rejects.to_pylist()]
    return sorted(map(repr, rows)), sorted(bad)


@pytest.mark.parametrize("rule", ["lenient", "sticky"])
@pytest.mark.parametrize("size", [1, 3, 64, 300, 1000])
def test_any_cut_and_order_gives_what_the_whole_gives(kernel, rule, size):
    for seed in range(40):
        chance = random.Random(f"{rule} {size} {seed}")
        records = (chance.choice(CLEAN if chance.random() < 0.95 else ASTRAY) for _ in range(chance.randint(1, 120)))
        data = b"".join(records)
        format = fm.Csv(SCHEMA, quotes=rule)
        rejects = []
        table = fm.read(data, format, on_error="collect", rejects=rejects)
        buffers = [data[i : i + size] for i in range(0, len(data), size)]
        order = list(range(len(buffers)))
        if seed % 4:
            chance.shuffle(order)
        together = chance.choice((1, 1, 7))
        stream = fm.Stream(format, on_error="collect")
        batches = []
        for i in range(0, len(order), together):
            part = order[i : i + together]
            batches += stream.push_many([buffers[k] for k in part], sequences=[k + 1 for k in part])
            if i == len(order) // 2:
                stream = fm.Stream.restore(format, stream.checkpoint())
        batches += stream.finish(last_sequence=len(buffers))
        rows = [row for batch in batches for row in batch.data.to_pylist()]
        assert facts(rows, stream.rejects()) == facts(table.to_pylist(), rejects[0]), (seed, order)


def test_an_open_record_of_an_idle_origin_keeps_its_rule():
    stream = fm.Stream(fm.Csv(SCHEMA, quotes="sticky"))
    batches = stream.push(b'1,x\n"s" ', sequence=1)
    batches += stream.push(b't",u\n2,y\n', sequence=2) + stream.finish()
    assert [row["a"] for batch in batches for row in batch.data.to_pylist()] == ["1", 's" t', "2"]
