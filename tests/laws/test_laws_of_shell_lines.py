"""Laws 1, 2, 6 and 8 for `spill sh`: it fits with its notes, all of it is kept, it says the same again, and the exit code is the line's."""

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st
from law_given import choices, law, outputs
from law_naive import over_all

from spillover import MemoryStore
from spillover.testing import FailingStore, content
from support import ToolClipper, clean, every_line, fits, guard_of, has_invisible, run_line, visible_text

#: Every example starts two shells.
law_for_shells = settings(law, max_examples=20)
codes = st.sampled_from([0, 1, 7, 255])
STORES = {"memory": MemoryStore, "full": lambda: FailingStore(MemoryStore(), after_bytes=900)}


def printed(line):
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False)


@law_for_shells
@given(chosen=choices, data=outputs, code=codes, store=st.sampled_from([*STORES]))
def test_a_line_fits_is_kept_and_ends_as_it_would(tmp_path, chosen, data, code, store):
    (tmp_path / "out").write_bytes(bytes(data))
    clipper = ToolClipper(**chosen, store=STORES[store]())
    line = f"cat {tmp_path}/out; exit {code}"
    ended = run_line(line, clipper)
    clip = ended.run.clip
    assert ended.run.exit_code == code
    assert not over_all([clip.text], clipper, whole=clip.outcome == "whole")
    assert clip.outcome != "lost" or store == "full"
    if clip.outcome == "stored":
        assert content(clipper.settings.store, clip.ref) == bytes(data)
        assert run_line(line, clipper.but(store=MemoryStore())).run.clip.ref == clip.ref


@law_for_shells
@given(
    chosen=choices,
    data=outputs,
    code=codes,
    filters=st.sampled_from(["tail -n 2", "head -c 40", "grep -av e", "wc -l"]),
)
def test_what_a_filter_drops_is_kept_and_told_within_the_limits(tmp_path, chosen, data, code, filters):
    (tmp_path / "out").write_bytes(bytes(data))
    clipper = ToolClipper(**chosen, store=MemoryStore())
    line = f"(cat {tmp_path}/out; exit {code}) | {filters}"
    ended, plain = run_line(line, clipper), printed(line)
    clip = ended.run.clip
    assert ended.run.exit_code == plain.returncode
    assert not over_all([clip.text, *(f"{note}\n" for note in ended.notes)], clipper, whole=clip.outcome == "whole")
    if clip.outcome == "whole":
        as_it_came = plain.stdout.decode("utf-8", "replace")
        lines = "\n".join(as_it_came.splitlines())
        odd = has_invisible(plain.stdout) or not all(
            fits(each, clipper, len(plain.stdout)) for each in (as_it_came, lines)
        )
        odd = odd or guard_of(clipper)(every_line(as_it_came)) != every_line(as_it_came)
        assert clip.text == (
            visible_text(clipper.settings, plain.stdout) if odd or "[tool text] " in clip.text else as_it_came
        )
        assert not ended.pieces or ended.pieces == (("stdout", plain.stdout),)
    for kept in ended.inputs:
        if kept.ref is not None and "head" not in filters:  # head may have had enough before all of it was written
            assert content(clipper.settings.store, kept.ref) == bytes(data)
        if kept.lossy and "head" not in filters:
            assert clean(plain.stdout) != clean(bytes(data))
