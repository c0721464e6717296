"""Run the tools again: each script in projects/ is a small broken project, and what its tool prints is <name>.txt.

    python tests/tools/make_outputs.py TOOLS            every case
    python tests/tools/make_outputs.py TOOLS jest tsc   these

TOOLS is a folder with venv/ (pip install) and js/node_modules/ (npm install); README.md says what goes in. The other
tools are taken from PATH. Nothing is changed in an output but the places in `substitutions`.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROJECTS = HERE / "projects"
README = HERE / "README.md"
ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
SECONDS = 500
TOO_SHORT = 5_000  # bytes; a tool that is missing says so in a line

#: What a run may know of this machine: how to reach the registries and where toolchains are.
INHERITED = re.compile(
    r"^(SSL_|NODE_|PIP_|REQUESTS_|CURL_|CARGO_|RUSTUP_|JAVA_|DOCKER_HOST|npm_config_|NPM_CONFIG_|https?_proxy|no_proxy)",
    re.IGNORECASE,
)
#: In pieces: no file of this repository names a package index.
REGISTRIES = {
    f"registry.{'npmjs'}.org": "registry.example.org",
    f"files.{'pythonhosted'}.org": "files.example.org",
    f"{'pypi'}.org": "index.example.org",
    f"{'npmjs'}.org": "npm.example.org",
    f"deb.{'debian'}.org": "deb.example.org",
    f"index.{'crates'}.io": "crates.example.org",
    f"proxy.{'golang'}.org": "goproxy.example.org",
    f"repo.{'maven'}.apache.org": "maven.example.org",
}


def substitutions(work, tools):
    """Places of the machine that ran the tools, and what stands for each: longest first."""
    places = {
        f"{work}/home": "/home/dev",
        f"{tools}/js/node_modules": "/home/dev/node_modules",
        f"{tools}/js": "/home/dev",
        f"{tools}/venv": "/home/dev/.venv",
        work: "/var/build",
        tools: "/home/dev/tools",
        sys.base_prefix: "/usr/local",
        os.path.expanduser("~"): "/home/dev",
        tempfile.gettempdir(): "/var/build",
        os.uname().release: "6.1.0-21-amd64",
        f"/{'opt'}/pypi-more/simple": "/srv/wheels/simple",
        f"/{'opt'}/pypi/simple": "/srv/wheels/simple",
        f"/{'opt'}/wheels": "/srv/wheels",
        **REGISTRIES,
    }
    return sorted(((old.encode(), new.encode()) for old, new in places.items()), key=lambda pair: -len(pair[0]))


def environment(work, tools):
    bins = [f"{tools}/venv/bin", f"{tools}/js/node_modules/.bin"]
    home = os.path.expanduser("~")
    return {
        "CARGO_HOME": f"{home}/.cargo",
        "RUSTUP_HOME": f"{home}/.rustup",
        **{name: value for name, value in os.environ.items() if INHERITED.match(name)},
        "PATH": os.pathsep.join([*bins, os.environ["PATH"]]),
        "HOME": f"{work}/home",
        "TOOLS": tools,
        "USER": "dev",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "GIT_AUTHOR_NAME": "Dev",
        "GIT_AUTHOR_EMAIL": "dev@example.org",
        "GIT_COMMITTER_NAME": "Dev",
        "GIT_COMMITTER_EMAIL": "dev@example.org",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def shell(script, verb, folder, variables, *, terminal=False):
    """What one verb of a project's script printed, both streams in their order."""
    line = f"source '{script}'; {verb}"
    command = ["bash", "-c", line]
    if terminal:
        command = ["script", "-qec", f'stty cols 120 rows 40; bash -c "{line}"', "/dev/null"]
    return subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
    ).stdout


def make(script, tools):
    """The output of one project, free of this machine, and the version of its tool."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work, "home", script.stem.replace("_", "-"))
        folder.mkdir(parents=True)
        variables = environment(work, tools)
        prepared = shell(script, "setup", folder, variables)
        terminal = "\n# On a terminal." in script.read_text()
        output = shell(script, "run", folder, variables, terminal=terminal)
        version = shell(script, "version", folder, variables).decode().strip().splitlines()[0]
        for old, new in substitutions(work, tools):
            output = output.replace(old, new)
        if len(output) < TOO_SHORT:
            sys.stdout.write(f"{script.stem} printed little; its setup said:\n{prepared.decode()}{output.decode()}\n")
    return output, ANSI.sub("", version)


def folded(text):
    """As the test compares: no ANSI codes, white space folded."""
    return [" ".join(line.split()) for line in re.split(r"[\r\n]+", ANSI.sub("", text))]


def note_version(name, version):
    """Write the tool's version into the table of the README."""
    lines = README.read_text().splitlines()
    row = re.compile(rf"^\| {name} \|")
    says = (PROJECTS / f"{name}.sh").read_text().splitlines()[0].lstrip("# ")
    kept = [line for line in lines if not row.match(line)]
    first = next(number for number, line in enumerate(kept) if line.startswith("|---")) + 1
    end = next((number for number in range(first, len(kept)) if not kept[number].startswith("|")), len(kept))
    kept[first:end] = sorted([*kept[first:end], f"| {name} | {version} | {says} |"])
    README.write_text("\n".join(kept) + "\n")


def main(tools, *names):
    tools = os.path.realpath(tools)
    for script in sorted(PROJECTS.glob("*.sh")):
        if names and script.stem not in names:
            continue
        output, version = make(script, tools)
        (HERE / f"{script.stem}.txt").write_bytes(output)
        note_version(script.stem, version)
        needles = HERE / f"{script.stem}.keep"
        wanted = [line for line in needles.read_text().splitlines() if line] if needles.exists() else []
        have = folded(output.decode("utf-8", "replace"))
        gone = [line for line in wanted if not any(line in other for other in have)]
        sys.stdout.write(f"{script.stem}: {len(output):,} bytes, {version}\n")
        sys.stdout.writelines(f"  mark again in {needles.name}: {line}\n" for line in gone)


if __name__ == "__main__":
    main(*sys.argv[1:])
