#!/usr/bin/env python3
"""Copies shared libraries and hides what they export beyond Arrow and Parquet.

usage: hide_symbols.py SOURCE_DIR TARGET_DIR LIBRARY...

The libraries of the pyarrow wheel export the OpenSSL, Thrift, RE2, abseil, protobuf
and C++ runtime code that is linked into them. In a process that also loads the
system's libssl, libcurl or librdkafka those symbols would take the place of the
system's own: two builds of one library mixed in one process. So each symbol that a
library defines, that is no Arrow or Parquet name and that no sibling imports, gets the
visibility "hidden" in .dynsym. The code stays as it is; only the lookup changes.
"""
import pathlib
import re
import struct
import sys
from typing import NamedTuple

ARROW_NAME = re.compile(rb"5arrow|7parquet|^arrow|^parquet|Arrow")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
SYMBOL_HEAD = struct.Struct("<IBBH")  # the first four fields of Elf64_Sym
SYMBOL_BYTES = 24
DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
HIDDEN = 2  # STV_HIDDEN
UNDEFINED = 0  # SHN_UNDEF


class Symbol(NamedTuple):
    other_offset: int  # where the byte with the visibility stands in the file
    name: bytes
    section: int

    @property
    def is_defined(self):
        return self.section != UNDEFINED


def sections(image):
    """All section headers of an ELF64 little-endian file."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    return [SECTION_HEADER.unpack_from(image, table + i * size) for i in range(count)]


def dynamic_symbols(image):
    headers = sections(image)
    dynsym = next(header for header in headers if header[1] == DYNAMIC_SYMBOLS)
    start, length, link = dynsym[4], dynsym[5], dynsym[6]
    names = headers[link][4]
    found = []
    for offset in range(start, start + length, SYMBOL_BYTES):
        name_offset, _, _, section = SYMBOL_HEAD.unpack_from(image, offset)
        end = image.index(b"\0", names + name_offset)
        found.append(Symbol(offset + 5, bytes(image[names + name_offset:end]), section))
    return found


def hide(image, symbols, wanted):
    """Hides in place; returns how many symbols were hidden."""
    hidden = 0
    for symbol in symbols:
        if not symbol.is_defined or not symbol.name or ARROW_NAME.search(symbol.name):
            continue
        if symbol.name in wanted:
            continue
        image[symbol.other_offset] = (image[symbol.other_offset] & ~3) | HIDDEN
        hidden += 1
    return hidden


def main(source, target, names):
    images = {name: bytearray((source / name).read_bytes()) for name in names}
    symbols = {name: dynamic_symbols(image) for name, image in images.items()}
    target.mkdir(parents=True, exist_ok=True)
    for name, image in images.items():
        wanted = {symbol.name for sibling in names if sibling != name
                  for symbol in symbols[sibling] if not symbol.is_defined}
        hidden = hide(image, symbols[name], wanted)
        (target / name).write_bytes(image)
        print(f"  {name}: {hidden} of {len(symbols[name])} symbols hidden")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
