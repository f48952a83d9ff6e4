"""Logs as MLPerf's rules of the rounds from 2.1 on want them of BERT, closed division, on a system of their own."""

import json

ONCE = {"submission_benchmark": "bert", "submission_org": "ACME", "submission_division": "closed", "submission_status": "onprem",
        "submission_platform": "1xanvil", "global_batch_size": 448, "gradient_accumulation_steps": 1, "opt_base_learning_rate": 4e-4,
        "opt_lamb_epsilon": 1e-6, "opt_lamb_beta_1": 0.9, "opt_lamb_beta_2": 0.999, "opt_lamb_weight_decay_rate": 0.01,
        "opt_learning_rate_training_steps": 670, "opt_learning_rate_warmup_steps": 0, "num_warmup_steps": 0, "start_warmup_step": 0}


def log(seconds):
    """A run of so many seconds."""
    lines = []

    def say(ms, key, value=None, event="POINT_IN_TIME", **metadata):
        lines.append(":::MLLOG " + json.dumps({"namespace": "", "time_ms": ms, "event_type": event, "key": key, "value": value,
                                               "metadata": metadata}))

    for rank in range(8):
        say(rank, "init_start", event="INTERVAL_START")
    say(10, "cache_clear", True)
    for key, value in ONCE.items():
        say(20, key, value)
    say(1000, "init_stop", event="INTERVAL_END")
    say(1000, "run_start", event="INTERVAL_START")
    say(1000, "block_start", event="INTERVAL_START", first_epoch_num=0, epoch_count=1)
    end = 1000 + round(seconds * 1000)
    for samples, accuracy in ((150080, 0.4), (300160, 0.7205)):
        say(end, "eval_accuracy", accuracy, epoch_num=samples)
    say(end, "block_stop", event="INTERVAL_END", first_epoch_num=0)
    say(end, "train_samples", 300160)
    say(end, "eval_samples", 10000)
    say(end, "run_stop", event="INTERVAL_END", status="success")
    return "\n".join(lines) + "\n"
