#!/usr/bin/env python3
"""Writes an Inspect AI log of any number of samples: an agent that calls a tool, with messages, events, scores and tokens.

    python3 benches/inspect_log.py --samples 20000 --compression deflate log.eval

The same arguments give the same bytes. Inspect AI is not needed; zstd, which it writes by default, needs the package `zipfile-zstd` before
Python 3.14. The members are those of inspect_ai 0.3.285: a file a sample, summaries a hundred at a time and once more together, results
and header. The header states the accuracy, its standard error and the tokens that the samples add up to.
"""

import argparse
import json
import math
import random
import zipfile
from pathlib import Path

METHODS = {"deflate": zipfile.ZIP_DEFLATED, "zstd": 93}
MODEL = "openai/gpt-5-mini"
STARTED = "2026-03-01T09:00:00+00:00"
# Summaries go to the journal so many at a time.
JOURNAL = 100
WHEN = (2026, 3, 1, 9, 0, 0)
USAGE = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read")


class Texts:
    """Slices of one long text of made-up words: as unlike each other as needed, and quick to draw."""

    def __init__(self, draw):
        syllables = "ba ko ri tem sul van der mo li ast en or ti qua pel ix ou sha gre dun".split()
        words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(8000)]
        self.text, self.draw = " ".join(draw.choices(words, k=600_000)), draw

    def take(self, characters):
        start = self.draw.randrange(len(self.text) - characters)
        return self.text[start : start + characters]


def identifier(draw):
    return f"{draw.getrandbits(128):032x}"[:22]


def time_of(number, second):
    minute, second = divmod(number // 50 + second, 60)
    return f"2026-03-01T{9 + minute // 60 % 12:02}:{minute % 60:02}:{second:02}.{number % 1_000_000:06}+00:00"


def sample_of(number, texts, draw, turns, characters):
    """Returns one sample and its summary."""
    messages = [
        {"id": identifier(draw), "content": texts.take(400), "role": "system"},
        {"id": identifier(draw), "content": f"Question {number}: {texts.take(characters)}", "source": "input", "role": "user"},
    ]
    target, is_right = f"{number % 997}", draw.random() < 0.62
    used = dict.fromkeys(USAGE, 0)
    span = identifier(draw)
    event = lambda kind, at, **rest: {"uuid": identifier(draw), "span_id": span, "timestamp": time_of(number, at), "working_start": at + 0.25, "event": kind, **rest}
    events = [event("span_begin", 0, id=span, type="solver", name="react")]
    for turn in range(turns):
        is_last = turn == turns - 1
        answer = {"id": identifier(draw), "content": texts.take(characters), "source": "generate", "role": "assistant", "model": MODEL}
        call = {"id": f"call_{identifier(draw)}", "function": "bash", "arguments": {"cmd": texts.take(80)}}
        if is_last:
            answer["content"] += f"\nANSWER: {target if is_right else 'unknown'}"
        else:
            answer["tool_calls"] = [call]
        one = {"input_tokens": 300 + 211 * turn, "output_tokens": 40 + number % 60, "input_tokens_cache_read": 128 * turn}
        one["total_tokens"] = sum(one.values())
        used = {key: used[key] + one[key] for key in USAGE}
        output = {"model": MODEL, "choices": [{"message": answer, "stop_reason": "stop" if is_last else "tool_calls"}], "completion": answer["content"], "usage": one, "time": 1.5}
        events.append(event("model", turn, model=MODEL, input=[], input_refs=[[0, len(messages)]], tools=[], tool_choice="auto", config={}, output=output, working_time=1.5))
        messages.append(answer)
        if not is_last:
            messages.append({"id": identifier(draw), "content": texts.take(characters), "role": "tool", "tool_call_id": call["id"], "function": "bash"})
            events.append(event("tool", turn, type="function", id=call["id"], function="bash", arguments=call["arguments"], result=messages[-1]["content"], events=[], working_time=0.5))
    score = {"value": "C" if is_right else "I", "answer": target if is_right else "unknown", "explanation": messages[-1]["content"], "history": []}
    events += [event("score", turns, score=score, target=target, intermediate=False, scorer="match"), event("span_end", turns, id=span)]
    both = {
        "id": f"q{number:06}",
        "epoch": 1,
        "input": messages[1]["content"],
        "target": target,
        "metadata": {"category": f"c{number % 12}", "level": number % 5},
        "scores": {"match": score},
        "model_usage": {MODEL: used},
        "role_usage": {},
        "started_at": time_of(number, 0),
        "completed_at": time_of(number, turns),
        "total_time": turns * 2.0,
        "working_time": turns * 1.75,
        "uuid": identifier(draw),
    }
    last = {"output": output, "store": {}, "messages": messages, "events": events, "error_retries": [], "attachments": {}, "turn_count": turns}
    last["events_data"] = {"messages": messages[:-1], "calls": []}
    summary = {**both, "retries": 0, "completed": True, "message_count": len(messages), "turn_count": turns}
    # A summary holds the beginning of what is long.
    cut = lambda text: text if len(text) <= 1000 else text[:1000] + "..."
    summary["input"], summary["scores"] = cut(both["input"]), {"match": {**score, "explanation": cut(score["explanation"])}}
    return {**both, **last}, summary, is_right, used


def write(path, samples, compression, turns=3, characters=700, summaries=True):
    """Writes the log; returns how many bytes it inflates to. Without `summaries` it is as logs of before 2025 are."""
    draw = random.Random(20260301)
    texts, inflated = Texts(draw), 0
    if compression == "zstd" and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import zipfile_zstd  # noqa: F401  teaches zipfile
    level = 3 if compression == "zstd" else 6
    pack = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    task = {"name": "inspect_ai/accuracy", "options": {}}, {"name": "inspect_ai/stderr", "options": {}}
    evaluation = {
        "eval_id": f"bench{samples}{compression}{turns}x{characters}{summaries}",
        "run_id": "bench",
        "created": STARTED,
        "task": "bench",
        "task_id": f"bench{samples}{compression}{turns}x{characters}{summaries}",
        "task_version": 0,
        "task_file": "bench.py",
        "task_attribs": {},
        "task_args": {},
        "dataset": {"samples": samples, "sample_ids": [f"q{number:06}" for number in range(samples)], "shuffled": False},
        "model": MODEL,
        "model_generate_config": {},
        "model_args": {},
        "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.285"},
        "scorers": [{"name": "match", "options": {}, "metrics": list(task), "metadata": {}}],
    }
    plan = {"name": "plan", "steps": [{"solver": "react", "params": {}}], "config": {}}
    with zipfile.ZipFile(path, "w", METHODS[compression], compresslevel=level) as archive:

        def member(name, data):
            nonlocal inflated
            inflated += len(data)
            # With a time of its own, so that the same arguments give the same bytes.
            info = zipfile.ZipInfo(name, WHEN)
            info.compress_type = METHODS[compression]
            archive.writestr(info, data, compresslevel=level)

        member("_journal/start.json", pack({"version": 2, "eval": evaluation, "plan": plan}))
        passed, total, briefs = 0, dict.fromkeys(USAGE, 0), []
        for number in range(samples):
            sample, summary, is_right, used = sample_of(number, texts, draw, turns, characters)
            member(f"samples/{sample['id']}_epoch_1.json", pack(sample))
            passed += is_right
            total = {key: total[key] + used[key] for key in USAGE}
            if summaries:
                briefs.append(pack(summary))
                if len(briefs) % JOURNAL == 0 or number == samples - 1:
                    start = (len(briefs) - 1) // JOURNAL * JOURNAL
                    member(f"_journal/summaries/{start // JOURNAL + 1}.json", b"[" + b",".join(briefs[start:]) + b"]")
        if summaries:
            member("summaries.json", b"[" + b",".join(briefs) + b"]")
        share = passed / samples
        metrics = {"accuracy": share, "stderr": math.sqrt(share * (1 - share) / (samples - 1)) if samples > 1 else 0.0}
        score = {"name": "match", "scorer": "match", "scored_samples": samples, "unscored_samples": 0, "params": {}}
        score["metrics"] = {name: {"name": name, "value": value, "params": {}} for name, value in metrics.items()}
        header = {
            "version": 2,
            "status": "success",
            "eval": evaluation,
            "plan": plan,
            "results": {"total_samples": samples, "completed_samples": samples, "scores": [score]},
            "stats": {"started_at": STARTED, "completed_at": "2026-03-01T21:00:00+00:00", "model_usage": {MODEL: total}, "role_usage": {}},
            "invalidated": False,
            "tags": [],
            "metadata": {},
        }
        member("header.json", pack(header))
    return inflated


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--compression", choices=sorted(METHODS), default="deflate")
    parser.add_argument("--turns", type=int, default=3, help="answers of the model in each sample")
    parser.add_argument("--characters", type=int, default=700, help="of each message")
    parser.add_argument("--no-summaries", action="store_true", help="leave them out, as before 2025: readers have to open every sample")
    options = parser.parse_args()
    written = write(options.path, options.samples, options.compression, options.turns, options.characters, not options.no_summaries)
    print(f"{options.path}: {options.samples} samples, {options.path.stat().st_size:,} bytes, {written:,} inflated")
