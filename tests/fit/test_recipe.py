"""The recipe of the weights: the same logs give the same bytes, and a class is added by a row in its table."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("zstandard", reason="the recipe needs the extra `fit`")

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT))  # for the package `scripts`

from scripts.fit import calibrate, folds, logs, recipe  # noqa: E402
from scripts.fit.__main__ import main  # noqa: E402

STEPS = ("compiling", "copying", "checking", "unpacking")


def write_corpus(folder, name="made", count=24, reason="src/{n}.c:{n}:7: error: no such name"):
    """Write logs of six projects, with the reason on one line of each."""
    dice = random.Random(7)
    records = []
    for number in range(count):
        lines = [f"{dice.choice(STEPS)} part {dice.randrange(900)} of {number}" for _ in range(120)]
        needle = reason.format(n=number)
        lines.insert(dice.randrange(20, 100), needle)
        records.append(
            {
                "id": f"log {number}",
                "group": f"project {number % 6}",
                "tokens": 2_500,
                "log": "\x1b[32m" + "\n".join(lines) + "\n",
                "needles": [{"lines": [needle], "need": "all"}],
            }
        )
    dice.shuffle(records)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return records


def test_two_fits_give_the_same_bytes_and_find_what_tells_the_needed_lines_from_others(tmp_path):
    write_corpus(tmp_path)
    texts = []
    for name in ("one.json", "two.json"):
        assert main([str(tmp_path), "--only", "made", "--out", str(tmp_path / name)]) == 0
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]
    weights = json.loads(texts[0])
    assert weights["points"]["error says"] > 0 > weights["points"]["progress"]
    curve = weights["curve"]
    assert curve == sorted(curve)
    assert [share for _, share in curve] == sorted(share for _, share in curve)


def test_the_loss_has_one_minimum_wherever_the_rows_stand():
    dice = np.random.default_rng(1)
    features = dice.normal(size=(400, 3)).astype(np.float32)
    needed = features[:, 0] + dice.normal(size=400) > 0
    order = dice.permutation(400)
    first = recipe.minimise(features, needed, np.ones(400), 1.0)
    assert recipe.minimise(features[order], needed[order], np.ones(400), 1.0) == first
    assert first[1][0] > 0.5 > abs(first[1][1])


def projects(found):
    return [log.project for log in found]


def test_the_order_of_the_logs_in_a_file_does_not_matter(tmp_path):
    records = write_corpus(tmp_path)
    first = logs.read(tmp_path, ["made"])
    (tmp_path / "made.jsonl").write_text("".join(json.dumps(record) + "\n" for record in reversed(records)))
    second = logs.read(tmp_path, ["made"])
    assert [log.name for log in first] == [log.name for log in second]
    assert folds.assign(projects(first)) == folds.assign(projects(second))


def test_a_class_is_added_by_a_row_in_its_table(tmp_path):
    """A copy of the sources gets one more class; the fit asks for it by name, and nothing else was told of it."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "src/spillover/kinds/log/classes.py"
    row = '    "quux": Class(r"quux", role="evidence", why="says quux"),\n'
    text = table.read_text()
    assert '    "link": Class(' in text
    table.write_text(text.replace('    "link": Class(', row + '    "link": Class('))
    write_corpus(tmp_path, count=12, reason="copying quux {n} of part")
    subprocess.run(
        [sys.executable, "-m", "scripts.fit", str(tmp_path), "--only", "made", "--out", str(tmp_path / "weights.json")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), str(ROOT)])},
        check=True,
    )
    assert json.loads((tmp_path / "weights.json").read_text())["points"]["quux"] > 0


def test_a_fifth_of_the_projects_of_each_corpus_is_held_out_by_their_names_alone():
    names = [f"{corpus}/project {number}" for corpus in ("one", "two") for number in range(10)]
    apart = folds.held_out(names)
    assert [sum(name.startswith(corpus) for name in apart) for corpus in ("one", "two")] == [2, 2]
    assert folds.held_out(reversed(names * 3)) == apart


def test_no_project_is_in_two_folds_and_no_fold_is_much_larger(tmp_path):
    write_corpus(tmp_path)
    found = logs.read(tmp_path, ["made"])
    fold = folds.assign(projects(found), 3)
    assert {
        len({f for log, f in zip(found, fold, strict=True) if log.project == name})
        for name in {log.project for log in found}
    } == {1}
    assert [fold.count(number) for number in range(3)] == [8, 8, 8]


def test_what_is_needed_is_found_behind_a_clock_and_where_it_repeats_nearest_to_the_rest(tmp_path):
    record = {
        "id": "1", "group": "p", "tokens": 9,
        "log": "again\nnoise\n10:00 the   reason\nagain\nwhy\n",
        "needles": [{"lines": ["the reason", "again", "why"], "need": "all"}],
    }  # fmt: skip
    (tmp_path / "made.jsonl").write_text(json.dumps(record))
    (log,) = logs.read(tmp_path, ["made"])
    assert np.flatnonzero(log.needed).tolist() == [2, 3, 4]


def test_the_curve_never_falls():
    points = np.linspace(-3, 3, 400)
    needed = np.random.default_rng(1).random(400) < 1 / (1 + np.exp(-points))
    shares = [share for _, share in calibrate.curve(points, needed, np.ones(400))]
    assert shares == sorted(shares)
    assert (shares[0] < 0.2, shares[-1] > 0.8) == (True, True)


def test_a_folder_without_the_logs_is_refused_before_any_work(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "has no cidiff.jsonl.zst. Name a folder that has it" in capsys.readouterr().err
