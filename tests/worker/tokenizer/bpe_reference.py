"""Byte-pair merges learnt in the plainest way: bpe_reference.py CORPUS SIZE prints merges.txt.

Every merge counts all pairs of all words again. For ASCII text without "'", whose letters are [A-Za-z].
"""
import collections
import re
import sys

corpus, size = sys.argv[1], int(sys.argv[2])
text = open(corpus, newline="").read()
found = re.findall(r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", text)
letter = {ord(c): c for c in map(chr, range(33, 127))}
for byte in range(33):
    letter[byte] = chr(256 + byte)
words = [([letter[b] for b in word.encode()], count) for word, count in collections.Counter(found).items()]
ids = {}
for c in sorted([*map(chr, range(33, 127)), *map(chr, range(161, 173)), *map(chr, range(174, 256)),
                 *map(chr, range(256, 324))]):
    ids[c] = len(ids)

print("#version: 0.2")
while len(ids) < size - 1:
    pairs = collections.Counter()
    for pieces, count in words:
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    if not pairs:
        break
    left, right = min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))
    print(left, right)
    ids.setdefault(left + right, len(ids))
    for pieces, _ in words:
        i = 0
        while i + 1 < len(pieces):
            if (pieces[i], pieces[i + 1]) == (left, right):
                pieces[i : i + 2] = [left + right]
            i += 1
