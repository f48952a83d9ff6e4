"""Rows of comma-separated values by Python's own module: the yardstick of csv_records_test.cc.

Usage: csv_reference.py TEXTS. Each line of the file is a text as a JSON string; prints its rows as JSON, without those of
blank lines, or null where the module refuses it.
"""
import csv
import io
import json
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    try:
        rows = [row for row in csv.reader(io.StringIO(json.loads(line), newline=""), strict=True) if row]
    except csv.Error:
        rows = None
    print(json.dumps(rows))
