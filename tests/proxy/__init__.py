"""A proxy of the tests between Frazil and a catalog, a store or a broker. See README.md."""
