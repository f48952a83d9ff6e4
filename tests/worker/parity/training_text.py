"""Made-up text that a small BERT learns within 200 steps: which word follows which is far from chance.

Real text would only bring it to word frequencies by then, and two trainings that merely count words are alike whatever
their layers do.
"""
import random

WORDS, DOCUMENTS, SENTENCES, LENGTH = 100, 600, 6, 12


def documents():
    """A word is followed by one of four, in falling likelihood; words are names of two to four syllables."""
    draw = random.Random(1)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(WORDS)]
    followers = [draw.sample(range(WORDS), 4) for _ in words]
    word = 0
    for _ in range(DOCUMENTS):
        sentences = []
        for _ in range(SENTENCES):
            chain = []
            for _ in range(LENGTH):
                word = draw.choices(followers[word], weights=[8, 4, 2, 1])[0]
                chain.append(words[word])
            sentences.append(" ".join(chain) + " .")
        yield sentences


def write_text(path):
    """One sentence a line, an empty line after each document."""
    path.write_text("\n\n".join("\n".join(sentences) for sentences in documents()) + "\n", encoding="utf-8")
