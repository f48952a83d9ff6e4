"""What the tasks train on, from shared data or Debian's: a corpus, a vocabulary, questions, labelled sentences."""
import json
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("PODIUM_SHARED_DATA", SOURCE / ".." / "shared" / "data"))
VOCABULARY = 8192
# Every so manieth article: questions of some 74 articles to learn from, of 12 others to answer.
TRAINING_ARTICLES, HELD_OUT_ARTICLES = 6, 4


def unpacked(path):
    return subprocess.run(["zstd", "-dcf", str(path)], check=True, capture_output=True).stdout


def write_corpus(worker, data):
    """Vocabulary and prepared text; returns where the text is from."""
    text = data / "text"
    text.mkdir(parents=True)
    wikipedia = SHARED / "lm" / "squad-wikipedia"
    if wikipedia.is_dir():
        for part, name in (("train", "train.txt"), ("dev", "heldout.txt")):
            (text / name).write_bytes(unpacked(wikipedia / f"{part}.txt.zst"))
    else:
        subprocess.run([SOURCE / "deploy" / "corpus", text], check=True)
    worker("vocab", "--size", VOCABULARY, "--out", data / "vocab.txt", text / "train.txt")
    sentences = ["--sequences", "sentences"] if wikipedia.is_dir() else []  # Debian's is a verse a line
    for name in ("train", "heldout"):
        worker("prepare", "--tokenizer", f"wordpiece:{data / 'vocab.txt'}", *sentences, "--out", data / name,
               text / f"{name}.txt")
    return "Wikipedia articles of SQuAD" if wikipedia.is_dir() else "the King James Bible, for there is no shared data"


def write_questions(data):
    """SQuAD 1.1's training and held-out articles, a part of each; returns a held-out paragraph."""
    folder = data / "squad"
    folder.mkdir()
    for part, every in (("train", TRAINING_ARTICLES), ("dev", HELD_OUT_ARTICLES)):
        official = json.loads(unpacked(SHARED / "squad" / f"{part}-v1.1.reconstructed.json.zst"))
        official["data"] = official["data"][::every]
        (folder / f"{part}-v1.1.json").write_text(json.dumps(official))
    return official["data"][0]["paragraphs"][0]


def write_labelled(data):
    """CoLA, whose files have no header, and SST-2."""
    cola, sst2 = SHARED / "glue" / "cola", SHARED / "glue" / "sst2-phrases"
    (data / "cola").mkdir()
    for name, parts in (("train", ["in_domain_train"]), ("dev", ["in_domain_dev", "out_of_domain_dev"])):
        lines = [line.split("\t") for part in parts for line in (cola / f"{part}.tsv").read_text().splitlines()]
        (data / "cola" / f"{name}.tsv").write_text(
            "".join(f"{sentence}\t{label}\n" for _, label, _, sentence in [["", "label", "", "sentence"], *lines]))
    (data / "sst2").mkdir()
    (data / "sst2" / "train.tsv").write_bytes(unpacked(sst2 / "train.tsv.zst"))
    (data / "sst2" / "dev.tsv").write_bytes((sst2 / "test.tsv").read_bytes())  # GLUE's dev
