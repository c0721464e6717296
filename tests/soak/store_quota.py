"""Many processes write to one store with a tiny quota, which must never be exceeded at any moment."""

import os
import random
import sys
import tempfile
import time
import traceback

from spillover import DirStore, Retention, StoreError
from spillover.store import verify
from spillover.store.folder import Folder
from spillover.store.retention import Amount, count
from spillover.testing import put

LIMITS = Retention(bytes=20_000, count=12, grace_seconds=0)


def quota(seconds, seed, writers=200):
    """Run concurrent writers for a time and return figures; `over`, `raised` and `damaged` must be 0."""
    figures = dict.fromkeys(("stored", "refused", "over", "raised", "damaged", "looks"), 0)
    with tempfile.TemporaryDirectory() as folder:
        root, until = os.path.join(folder, "store"), time.monotonic() + seconds
        children = [_forked(lambda me=me: _write(root, until, f"{seed}:{me}")) for me in range(writers)]
        store = DirStore(root, LIMITS)
        while not figures["looks"] or time.monotonic() < until:  # starting may have taken all of the time
            figures["looks"] += 1
            figures["over"] += _over(root)
            time.sleep(0.01)
        for child, pipe in children:
            said = _all_of(pipe).split()
            os.waitpid(child, 0)
            for name, number in zip(("stored", "refused", "raised"), said or (0, 0, 1), strict=True):
                figures[name] += int(number)
        figures["over"] += _over(root)
        figures["damaged"] = sum(verify(store, record.ref) is not None for record in store.list())
    return figures


def _over(root):
    """Return whether the quota is exceeded. Outputs removed during the check may or may not be counted."""
    try:
        with Folder(root) as folder:
            held = count(folder)
    except FileNotFoundError:
        held = Amount()
    return held.bytes > LIMITS.bytes or held.outputs > LIMITS.count


def _write(root, until, seed):
    dice, store = random.Random(f"{seed}"), DirStore(root, LIMITS)
    done = {"stored": 0, "refused": 0, "raised": 0}
    while not any(done.values()) or time.monotonic() < until:  # starting may have taken all of the time
        try:
            ref = put(store, dice.randbytes(dice.randrange(4_000)), f"t{dice.randrange(3)}").ref
            done["stored"] += 1
            if dice.random() < 0.1:
                store.delete(ref)
            elif dice.random() < 0.02:
                store.pin(ref)
                store.pin(ref, pinned=False)
        except (StoreError, LookupError):
            done["refused"] += 1
        except Exception:  # noqa: BLE001  any exception is counted
            traceback.print_exc()
            done["raised"] += 1
    return " ".join(map(str, done.values()))


def _forked(work):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        os.write(write, work().encode())
        os._exit(0)
    os.close(write)
    return child, read


def _all_of(fd):
    data = b""
    while part := os.read(fd, 4_096):
        data += part
    os.close(fd)
    return data.decode()


if __name__ == "__main__":
    sys.stdout.write(f"{quota(float(sys.argv[1]), sys.argv[2])}\n")
