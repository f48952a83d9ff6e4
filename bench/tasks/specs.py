"""The specs of the jobs: one model, pre-trained and then fine-tuned."""
SHAPE = {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024}
LENGTH, POSITIONS = 128, 192


def job(name, data, training, evaluate, model):
    return {
        "version": 1, "name": name, "labels": {"suite": "tasks"},
        "model": {"family": "bert", **SHAPE, "max_positions": POSITIONS, **model},
        "data": {**data, "tokenizer": {"wordpiece": "vocab.txt"}},
        "training": {"precision": "bf16", **training},
        "resources": {"devices": 1, "kind": "cpu", "walltime": "2h"},
        "checkpoint": {"every": f"{training['schedule']['steps']} steps"},
        "evaluate": evaluate,
    }


def pretraining(steps, precision="bf16", rate=1e-3):
    """Without dropout, so that another program can be held to its losses one by one."""
    training = {
        "task": "pretrain", "precision": precision, "sequence_length": LENGTH, "log_every": "1 step",
        "optimizer": {"name": "adamw", "lr": rate, "weight_decay": 0.01, "clip": 1.0, "epsilon": 1e-6},
        "schedule": {"steps": steps, "warmup": 0.05, "decay": "linear"}, "batch": {"global": 32, "micro": 32},
    }
    evaluate = {"every": f"{steps // 4} steps", "data": "heldout", "sequences": 256}
    return job("tasks-pretrain", {"train": "train"}, training, evaluate, {"dropout": 0, "attention_dropout": 0})


def questions(steps, pretrained):
    training = {
        "task": "squad", "sequence_length": POSITIONS, "squad": {"document_stride": 96, "query_length": 32},
        "unpadded": True, "optimizer": {"name": "adamw", "lr": 3e-4},
        "schedule": {"steps": steps, "warmup": 0.1, "decay": "linear"}, "batch": {"global": 16, "micro": 16},
    }
    return job("tasks-squad", {"train": "squad/train-v1.1.json"}, training,
               {"every": f"{steps} steps", "data": "squad/dev-v1.1.json", "sequences": 100000}, {"init": {"job": pretrained}})


def classes(name, steps, pretrained):
    training = {
        "task": "classify", "sequence_length": 64, "unpadded": True, "optimizer": {"name": "adamw", "lr": 2e-4},
        "schedule": {"steps": steps, "warmup": 0.1, "decay": "linear"}, "batch": {"global": 32, "micro": 32},
    }
    return job(f"tasks-{name}", {"train": f"{name}/train.tsv"}, training,
               {"every": f"{steps} steps", "data": f"{name}/dev.tsv", "sequences": 2000}, {"init": {"job": pretrained}})
