"""Pearson's, Spearman's and Matthews' correlations by numpy, literally: the yardstick of correlations_test.cc.

Usage: correlations_reference.py CASES. Prints a line of JSON for each of the file's lines, which are objects with a
"kind" and two lists, "a" and "b". Exits with 77 where numpy is missing.
"""
import json
import sys

try:
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)


def ranks(values):
    values = numpy.asarray(values)
    return [((values < v).sum() + 1 + (values <= v).sum()) / 2 for v in values]


def indicators(classes):
    return numpy.equal.outer(numpy.asarray(classes), numpy.arange(10)).astype(float)


def matthews(labels, predicted):
    x, y = (indicators(classes) for classes in (labels, predicted))
    x, y = x - x.mean(0), y - y.mean(0)
    return (x * y).sum() / numpy.sqrt((x * x).sum() * (y * y).sum())


for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    a, b = case["a"], case["b"]
    if case["kind"] == "matthews":
        print(json.dumps(float(matthews(a, b))))
    else:
        x, y = (ranks(a), ranks(b)) if case["kind"] == "spearman" else (a, b)
        print(json.dumps(float(numpy.corrcoef(x, y)[0, 1])))
