"""numpy is loaded as cheaply as it can be, and in somebody else's program it is loaded as anybody would."""

import subprocess
import sys

import numpy as np
import pytest

from spillover.select.arrays import among, group

LOAD = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from spillover.base import process
from spillover.select.arrays import load
process.ours = sys.argv[1] == "ours"
load()
import gc, threading, numpy
with open("/proc/self/status") as file:
    threads = [line.split()[1] for line in file if line.startswith("Threads:")]
print(bool(numpy.ndarray.max.__doc__), os.environ.get("OPENBLAS_NUM_THREADS"), gc.isenabled(), *threads)
print(numpy.linalg.inv(numpy.eye(2)).tolist())
"""


def loaded(whose):
    return subprocess.run([sys.executable, "-c", LOAD, whose], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )


def test_a_process_of_ours_starts_no_threads_for_it_and_its_environment_is_as_it_was():
    facts, works, _ = loaded("ours")
    assert facts == "False None True 1"
    assert works == "[[1.0, 0.0], [0.0, 1.0]]"


AT_ONCE = """
import gc, os
from threading import Event, Thread
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from spillover.base import lean, process
from spillover.select.arrays import load
process.ours = True
really, entered, ended = lean.load, Event(), Event()
other = Thread(target=load)
def first():
    lean.load = second
    other.start()
    entered.wait(0.2)
def second():
    entered.set()
    ended.wait()
    really()
lean.load = first
load()
ended.set()
other.join()
print(os.environ.get("OPENBLAS_NUM_THREADS"), gc.isenabled())
"""


def test_two_threads_that_load_it_at_once_leave_the_environment_as_it_was():
    ran = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["None", "True"]


def test_in_a_process_of_somebody_else_it_is_loaded_as_usual():
    facts, works, _ = loaded("theirs")
    assert facts.startswith("True None True ")
    assert works == "[[1.0, 0.0], [0.0, 1.0]]"


@pytest.mark.parametrize("values", [[], [7], [3, 1, 3, 3, 2, 1], [5] * 9])
def test_groups_are_those_of_numpy_and_the_first_of_each_comes_first(values):
    values = np.array(values, dtype=np.int64)
    order, starts, sizes = group(values)
    known, first, counts = np.unique(values, return_index=True, return_counts=True)
    assert values[order[starts]].tolist() == known.tolist()
    assert order[starts].tolist() == first.tolist()
    assert sizes.tolist() == counts.tolist()


@pytest.mark.parametrize(("values", "those"), [([], [1]), ([1, 4, 9], []), ([1, 4, 9], [9, 0, 4, 4, 12])])
def test_those_among_the_values_are_found_whatever_their_order(values, those):
    assert among(np.array(values, dtype=np.int64), those).tolist() == [each in those for each in values]
