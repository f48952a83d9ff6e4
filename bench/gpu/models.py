"""What bench/gpu measures, and what this project set out to reach on one H200."""

BERT_LARGE = {"family": "bert", "layers": 24, "hidden": 1024, "heads": 16, "intermediate": 4096, "vocab": 30528,
              "positions": 512}
GPT2_XL = {"family": "gpt", "layers": 48, "hidden": 1600, "heads": 25, "intermediate": 6400, "vocab": 50304,
           "positions": 1024}
# At 384, SQuAD's length, two predicted tokens a sequence stand for its span head.
TRAINING = {
    "BERT-Large 512": {**BERT_LARGE, "length": 512, "masked": 76, "batch": 32, "steps": 10},
    "BERT-Large 128": {**BERT_LARGE, "length": 128, "masked": 20, "batch": 128, "steps": 10},
    "GPT-2 1558M": {**GPT2_XL, "length": 1024, "batch": 8, "steps": 4},
    "BERT-Large 384": {**BERT_LARGE, "length": 384, "masked": 2, "batch": 40, "steps": 10},
}
TRAINING_GOALS = {"BERT-Large 512": 465, "BERT-Large 128": 1970, "GPT-2 1558M": 48_400 / 1024}  # sequences/s

INFERENCE = {
    "BERT-Large": {"preset": "bert-large", "layers": 24, "hidden": 1024, "heads": 16},
    "BERT-base": {"preset": "bert-base", "layers": 12, "hidden": 768, "heads": 12},
}
SHAPES = ["1x128", "1x384", "64x128"]
WAYS = ["fp16", "int8", "fp8", "fp16 sparse", "int8 sparse"]
INFERENCE_GOALS = {("BERT-Large", "1x128", "fp16"): 0.80, ("BERT-Large", "1x128", "int8"): 0.60,
                   ("BERT-Large", "1x128", "fp8"): 0.60}  # milliseconds

# With --cpu: of a size that any machine computes.
TINY_TRAINING = {"BERT tiny": {"family": "bert", "layers": 2, "hidden": 64, "heads": 2, "intermediate": 256, "vocab": 512,
                               "positions": 64, "length": 32, "masked": 4, "batch": 4, "steps": 2}}
TINY_INFERENCE = {"BERT-tiny": {"preset": "bert-tiny", "layers": 2, "hidden": 128, "heads": 2}}


def goal_of(figure):
    """Of a figure of Podium's; None: there is none."""
    if figure.get("side") != "Podium":
        return None
    if figure["what"] == "training":
        return TRAINING_GOALS.get(figure["name"])
    if figure["what"] == "inference":
        return INFERENCE_GOALS.get((figure["name"], figure["shape"], figure["way"]))
    return None


def reaches(figure, goal):
    return figure["value"] >= goal if figure["what"] == "training" else figure["value"] <= goal
