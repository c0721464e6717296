"""Forking while another thread makes its first clip: the child can clip too."""

import subprocess
import sys
import textwrap

import pytest

#: Children are forked while a thread loads what its first clip needs; each then clips. Prints how many hung, and how others ended.
PROGRAM = textwrap.dedent("""
    import multiprocessing, os, signal, sys, threading, time
    from spillover import Clipper, DirStore, Limits, MemoryStore

    how, root, wait = sys.argv[1], sys.argv[2], float(sys.argv[3])
    texts = {
        "log": "".join(f"12:00:{n % 60:02} ERROR line {n} of a log\\n" for n in range(5_000)),
        "json": "[" + ", ".join(f'{{"id": {n}, "name": "name {n}"}}' for n in range(3_000)) + "]",
        "csv": "id,name\\n" + "".join(f"{n},name {n}\\n" for n in range(5_000)),
    }

    def clip_all():
        for text in texts.values():
            for store in (DirStore(root), MemoryStore()):
                assert Clipper(Limits(tokens=500), store=store).clip(text).outcome == "stored"

    def forked():
        if how == "multiprocessing":
            process = multiprocessing.get_context("fork").Process(target=clip_all)
            process.start()
            return process.pid, lambda: process.exitcode  # to start another may have waited for this one already
        pid = os.fork()
        if pid == 0:
            try:
                clip_all()
            except BaseException as error:
                os.write(2, f"{error!r}\\n".encode())
                os._exit(3)
            os._exit(0)
        return pid, lambda: os.waitstatus_to_exitcode(ended[1]) if (ended := os.waitpid(pid, os.WNOHANG))[0] else None

    thread = threading.Thread(target=clip_all)
    thread.start()
    children = {}
    for _ in range(14):
        time.sleep(wait)
        pid, exit_code = forked()
        children[pid] = exit_code
    thread.join()
    ends, until = [], time.monotonic() + 240  # a child takes a second, on a busy machine many; one that hangs never ends
    while children and time.monotonic() < until:
        for pid, exit_code in list(children.items()):
            if (ended := exit_code()) is not None:
                del children[pid]
                ends.append(ended)
        time.sleep(0.02)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    print(len(children), "hung;", sorted(set(ends)))
    os._exit(0)  # multiprocessing would wait for those that hang
""")


@pytest.mark.parametrize(("how", "wait"), [("fork", 0.001), ("multiprocessing", 0.02)])
def test_children_forked_while_a_thread_makes_its_first_clip_can_clip(tmp_path, how, wait):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, how, str(tmp_path / "store"), str(wait)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("0 hung; [0]\n", "")


IMPORTING = textwrap.dedent("""
    import os, sys, threading, time
    sys.path.insert(0, sys.argv[1])
    import spillover
    thread = threading.Thread(target=__import__, args=("slow_to_load",))
    thread.start()
    time.sleep(0.2)
    before = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    print(os.waitpid(pid, 0)[1], "beside" if thread.is_alive() else "after")
""")


def test_a_fork_does_not_wait_for_imports_that_are_not_ours(tmp_path):
    (tmp_path / "slow_to_load.py").write_text("import time; time.sleep(3)\n")
    command = [sys.executable, "-W", "ignore", "-c", IMPORTING, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0 beside\n"


WHILE_LOADING = textwrap.dedent("""
    import os, sys
    sys.path.insert(0, sys.argv[1])
    import spillover
    import forks_while_it_is_loaded
""")


def test_a_module_that_forks_while_it_is_loaded_is_not_held_up(tmp_path):
    forks = "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nprint(os.waitpid(pid, 0)[1])\n"
    (tmp_path / "forks_while_it_is_loaded.py").write_text(forks)
    command = [sys.executable, "-c", WHILE_LOADING, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
