"""Foreign readers of Iceberg tables, brought into one canonical form of rows.

read_all, read_where and compare_judges are in judges.compare; the strict checker is in
judges.java_checker; the canonical form is described in judges.canonical.
"""
