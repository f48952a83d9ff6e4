"""Text to train on: WikiText-2 where the shared reference data lies beside the checkout, else made-up text.

One sentence a line, an empty line after each document. Either way there is something to learn: words differ in
frequency, and which follows which is not chance.
"""
import os
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("PODIUM_SHARED_DATA", ROOT.parent / "shared" / "data"))
DOCUMENTS = 600


def wikitext_documents(path):
    """Each paragraph of at least two sentences is a document."""
    for paragraph in path.read_text(encoding="utf-8").splitlines():
        sentences = [sentence.strip() + " ." for sentence in paragraph.split(" . ") if sentence.strip()]
        if len(sentences) >= 2 and not paragraph.startswith(" = "):
            yield sentences


def made_up_documents():
    """A word is followed by one of four, in falling likelihood; words are names of two to four syllables."""
    draw = random.Random(1)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(800)]
    followers = [draw.sample(range(len(words)), 4) for _ in words]
    while True:
        word, sentences = draw.randrange(len(words)), []
        for _ in range(6):
            chain = []
            for _ in range(12):
                word = draw.choices(followers[word], weights=[8, 4, 2, 1])[0]
                chain.append(words[word])
            sentences.append(" ".join(chain) + " .")
        yield sentences


def write_text(path):
    """Writes DOCUMENTS documents and says where they come from."""
    wikitext = SHARED / "lm" / "wikitext-2" / "valid.txt"
    source, documents = ("WikiText-2", wikitext_documents(wikitext)) if wikitext.exists() else (
        "made-up text", made_up_documents())
    chosen = [document for document, _ in zip(documents, range(DOCUMENTS))]
    path.write_text("\n\n".join("\n".join(document) for document in chosen) + "\n", encoding="utf-8")
    return source
