"""The registry of faults: what is put into a sound table, one at a time, and what the checker must say of it."""

import struct

FAULTS = {}
TYPED_FAULTS = {}  # in tables of other types; by the rules for foreign files, unless strict
# What iceberg-java itself does not bear is reported as well.
ALWAYS_ALLOWED = {"TABLE_UNREADABLE", "READER_REFUSES"}


def fault(*codes, also=(), name=None):
    """Registers a function that breaks a copy. codes must be named, those of also may be."""
    def register(function):
        FAULTS[name or function.__name__] = (function, set(codes), set(also))
        return function
    return register


def typed_fault(table, *codes, also=(), strict=False):
    def register(function):
        TYPED_FAULTS[function.__name__] = (function, set(codes), set(also), table, strict)
        return function
    return register


def each_fault(cases):
    """Registers one fault for each (name, codes, function)."""
    for case, codes, function in cases:
        fault(*([codes] if isinstance(codes, str) else codes), name=case)(function)


def double(value):
    """As it stands in bounds and in Parquet statistics."""
    return struct.pack("<d", value)
