"""Files as they come: damaged, cut off, oddly written, called by a wrong name; each with what is right about it."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from pyarrow import parquet

Rows = list[tuple[str, str]]
Verdict = Literal["read", "refused", "either"]
LABELS = ("yes", "no")


@dataclass(frozen=True)
class Hostile:
    """Files by name, and what must come of them.

    ``rows`` are the true and predicted labels that are right; where there are none, no number is. ``verdict`` says
    whether they must be read, must be refused, or may be either. A ``soundless`` format tells nothing of damage: then
    any number of rows will do, as long as nothing breaks.
    """

    kind: str
    files: dict[str, bytes]
    rows: Rows | None
    verdict: Verdict = "either"
    soundless: bool = False


def drawn(source: random.Random, least: int = 3) -> Rows:
    """Some rows of true and predicted labels, each class among them."""
    count = source.randint(least, 40)
    return [("yes", "no"), ("no", "no"), *((source.choice(LABELS), source.choice(LABELS)) for _ in range(count))]


def text(rows: Rows, delimiter: str = ",", ending: str = "\n") -> str:
    lines = ["y,m,note", *(f"{true},{said},x" for true, said in rows)]
    return "".join(line.replace(",", delimiter) + ending for line in lines)


def table(rows: Rows) -> Any:
    return pa.table({"y": [true for true, _ in rows], "m": [said for _, said in rows], "k": list(range(len(rows)))})


def as_parquet(rows: Rows, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(table(rows), sink, write_page_checksum=True, **options)
    return bytes(sink.getvalue())


def as_arrow(rows: Rows, stream: bool = False) -> bytes:
    sink, whole = pa.BufferOutputStream(), table(rows)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, whole.schema) as writer:
        writer.write_table(whole, max_chunksize=7)
    return bytes(sink.getvalue())


def parsed(content: bytes) -> Rows | None:
    """What Python's own reader of CSV makes of it, where all rows have their cells and both labels are known."""
    try:
        lines = [
            line
            for line in csv.reader(io.StringIO(content.decode(errors="surrogateescape"), newline=""), strict=True)
            if line
        ]
    except csv.Error:
        return None
    if not lines or lines[0][:2] != ["y", "m"] or any(len(line) != len(lines[0]) for line in lines):
        return None
    rows = [(line[0], line[1]) for line in lines[1:]]
    return rows if rows and all(label in LABELS for row in rows for label in row) else None


# --- text -----------------------------------------------------------------------------------------------------


def written_otherwise(source: random.Random) -> Hostile:
    """Encodings, ends of lines, marks, quotes and delimiters: all can be read."""
    rows = drawn(source)
    plain = text(rows, source.choice(",;\t|"), source.choice(["\n", "\r\n", "\r"]))
    quoted = '"y","m","note"\n' + "".join(f'"{true}","{said}","a ""b"",\n c"\n' for true, said in rows)
    content: bytes = source.choice(
        [
            plain.encode(),
            ("\ufeff" + plain).encode(),
            plain.rstrip("\r\n").encode(),
            quoted.encode(),
            quoted.replace("\n", "\r\n").encode(),
            text([(f'"{true}"', said) for true, said in rows]).encode(),
        ]
    )
    return Hostile("written otherwise", {"a.csv": content}, rows, "read")


def in_another_encoding(source: random.Random) -> Hostile:
    """UTF-16, UTF-32 and Latin-1: read right, or refused."""
    rows = drawn(source)
    plain = text(rows).replace("x\n", "é\n")
    code = source.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"])
    return Hostile(f"in {code}", {"a.csv": plain.encode(code)}, rows)


def with_odd_bytes(source: random.Random) -> Hostile:
    """NUL and other bytes put into the text, anywhere: what Python's reader finds, or refused."""
    content = bytearray(text(drawn(source)).encode())
    for _ in range(source.randint(1, 3)):
        odd = source.choice([b"\0", b"\xff", b"\x1a", b"\x1b", b"\r", b"\n\n", b",", b"\xc2\xa0"])
        place = source.randrange(len(content))
        content[place:place] = odd
    return Hostile("odd bytes", {"a.csv": bytes(content)}, parsed(bytes(content)))


def cut_text(source: random.Random) -> Hostile:
    """Text cut off anywhere: the whole rows that are left, or refused."""
    whole = text(drawn(source)).encode()
    content = whole[: source.randrange(len(whole))]
    return Hostile("cut text", {"a.csv": content}, parsed(content))


def ragged(source: random.Random) -> Hostile:
    """A row with too many or too few cells."""
    rows = drawn(source)
    lines = text(rows).splitlines()
    place = source.randrange(1, len(lines))
    lines[place] = source.choice([lines[place] + ",x", lines[place].rpartition(",")[0], "yes", ",,,,,,"])
    return Hostile("ragged", {"a.csv": "\n".join(lines).encode()}, None, "refused")


def of_odd_shape(source: random.Random) -> Hostile:
    """No rows, no header, no columns, or the same column twice."""
    rows = drawn(source)
    plain = text(rows)
    content, right = source.choice(
        [
            ("", None),
            ("\n\n\n", None),
            ("y,m,note\n", None),
            (plain.partition("\n")[2], None),  # without a header, the first row is taken for it
            ("y,m,m\n" + plain.partition("\n")[2], None),
            ("y,y,m\n" + plain.partition("\n")[2], None),
            ("m;y;note\n", None),
            ("y\n" + "".join(f"{true}\n" for true, _ in rows), None),
            ("\ufeff", None),
            ('"y,m\n' + plain, None),
        ]
    )
    return Hostile("odd shape", {"a.csv": content.encode()}, right, "refused")


def with_huge_cells(source: random.Random) -> Hostile:
    """A cell larger than what is parsed at a time, many columns, or a long row of blanks: all can be read."""
    rows = drawn(source)
    wide = 1000
    content = source.choice(
        [
            text(rows).replace("x\n", "x" * 3_000_000 + "\n", 1),
            text(rows).replace("x\n", '"' + "x\n" * 1_200_000 + '"\n', 1),
            "y,m," + ",".join(f"c{k}" for k in range(wide)) + "\n"
            + "".join(f"{true},{said}" + ",1" * wide + "\n" for true, said in rows),
        ]
    )  # fmt: skip
    return Hostile("huge cells", {"a.csv": content.encode()}, rows, "read")


# --- compressed -----------------------------------------------------------------------------------------------


def damaged_gzip(source: random.Random) -> Hostile:
    """Two members are one file; a cut or a changed bit is seen by the checksum."""
    rows = drawn(source)
    plain = text(rows).encode()
    whole = gzip.compress(plain, mtime=0)
    kind = source.randrange(5)
    if kind == 0:
        half = plain.index(b"\n", len(plain) // 2) + 1
        return Hostile(
            "two members", {"a.csv.gz": gzip.compress(plain[:half]) + gzip.compress(plain[half:])}, rows, "read"
        )
    if kind == 1:
        return Hostile("cut gzip", {"a.csv.gz": whole[: source.randrange(len(whole))]}, None, "refused")
    if kind == 2:
        return Hostile("flipped gzip", {"a.csv.gz": flipped(source, whole, 10)}, rows)
    if kind == 3:
        return Hostile("rubbish behind gzip", {"a.csv.gz": whole + source.randbytes(20)}, rows)
    return Hostile("no gzip", {"a.csv.gz": plain}, rows)


def flipped(source: random.Random, content: bytes, start: int = 0) -> bytes:
    """The same with one bit changed, from a place on."""
    changed = bytearray(content)
    changed[source.randrange(start, len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


# --- Parquet and Arrow ----------------------------------------------------------------------------------------


def cut_binary(source: random.Random) -> Hostile:
    """Parquet or Arrow, cut off at any byte: no row of it can be trusted."""
    rows = drawn(source)
    name, whole = source.choice(
        [
            ("a.parquet", as_parquet(rows)),
            ("a.parquet", as_parquet(rows, row_group_size=5)),
            ("a.arrow", as_arrow(rows)),
            ("a.feather", as_arrow(rows, stream=True)),
        ]
    )
    return Hostile(f"cut {name}", {name: whole[: source.randrange(len(whole))]}, None, "refused")


def flipped_parquet(source: random.Random) -> Hostile:
    """Parquet with a changed bit: pages have checksums; what stands in the footer has none."""
    rows = drawn(source)
    whole = as_parquet(
        rows, compression=source.choice(["none", "snappy", "zstd"]), use_dictionary=source.random() < 0.5
    )
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    if source.random() < 0.5:
        return Hostile("flipped page", {"a.parquet": flipped(source, whole[:footer], 4) + whole[footer:]}, rows)
    return Hostile(
        "flipped footer", {"a.parquet": whole[:footer] + flipped(source, whole[footer:])}, rows, soundless=True
    )


def flipped_arrow(source: random.Random) -> Hostile:
    """Arrow with a changed bit, which has no checksums."""
    rows = drawn(source)
    stream = source.random() < 0.5
    name = "a.feather" if stream else "a.arrow"
    return Hostile(f"flipped {name}", {name: flipped(source, as_arrow(rows, stream))}, rows, soundless=True)


# --- names and kinds ------------------------------------------------------------------------------------------


def rubbish(source: random.Random) -> Hostile:
    """Random bytes under any name."""
    name = source.choice(["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow", "a.feather"])
    return Hostile(f"rubbish in {name}", {name: source.randbytes(source.choice([1, 7, 300, 5000]))}, None, "refused")


def by_a_wrong_name(source: random.Random) -> Hostile:
    """A sound file under the name of another kind."""
    rows = drawn(source)
    contents = {
        "csv": text(rows).encode(),
        "csv.gz": gzip.compress(text(rows).encode()),
        "parquet": as_parquet(rows),
        "arrow": as_arrow(rows),
    }
    true, called = source.sample(list(contents), 2)
    return Hostile(f"{true} called {called}", {f"a.{called}": contents[true]}, rows)


def of_other_kinds(source: random.Random) -> Hostile:
    """A folder in which one file differs from the others: another kind of label, a column less, another class."""
    first, last = drawn(source), drawn(source)
    numbers = "y,m\n" + "".join(f"{int(true == 'yes')},{int(said == 'yes')}\n" for true, said in last)
    odd = source.choice(
        [
            numbers,
            text(last).replace("y,m,note", "y,other,note"),
            text(last).replace("yes", "maybe", 1),
            numbers.replace("0", "0.5"),
            "y,m\n",
            text(last)[:-4] + "\0\n",
            text(last).replace("yes,no", ",no", 1),
        ]
    )
    if odd == "y,m\n":
        return Hostile("an empty file among others", {"a.csv": text(first).encode(), "b.csv": odd.encode()}, first)
    return Hostile("other kinds", {"a.csv": text(first).encode(), "b.csv": odd.encode()}, parsed_both(first, odd))


def parsed_both(first: Rows, odd: str) -> Rows | None:
    more = parsed(odd.encode())
    return None if more is None else [*first, *more]


MAKERS: tuple[Callable[[random.Random], Hostile], ...] = (
    written_otherwise, in_another_encoding, with_odd_bytes, cut_text, ragged, of_odd_shape, with_huge_cells,
    damaged_gzip, cut_binary, flipped_parquet, flipped_arrow, rubbish, by_a_wrong_name, of_other_kinds,
)  # fmt: skip


def hostile_files(seeds: range) -> Iterator[tuple[int, Hostile]]:
    """Files of all kinds in turn, made by their seeds."""
    for seed in seeds:
        yield seed, MAKERS[seed % len(MAKERS)](random.Random(seed))  # noqa: S311
