"""The account of a run with faults: what was produced and what happened, and the program that holds tables to it."""
