"""Modules know only what stands above them, at the top of a file, inside a function, and for the checker alike."""

import ast
from pathlib import Path

import pytest

import spillover

ROOT = Path(spillover.__file__).parent

#: Read from top to bottom: nobody knows a module below, or beside it in its own row. A new one is put where it belongs.
ORDER = """
    data
    errors
    limits                  models
    tokens
    intake                  view                 select              store               retrieve           config
    intake.blob             intake.meter         intake.sources      intake.terminal
    intake.follow
    intake.take
    intake.pipe
    intake.child
    view.clean
    view.document
    select.span             select.engine        select.json_scan    select.outliers
    select.ends             select.classes       select.json_odd
    select.exact
    select.lines            select.json_gaps
    select.scan             select.fold          select.features     select.json_room
    select.choose           select.score         select.json_tree
    select.signal           select.blob          select.table        select.diff         select.markup
    select.ndjson           select.kind
    select.auto
    result
    store.base
    store.record            store.memory         store.folder        store.contract      store.compress
    store.reading           store.retention
    store.packing
    store.directory
    store.named
    testing
    notice
    render
    form
    config.place
    choices
    fit
    cut
    pipeline
    capture                 blocks               run
    wrap
    retrieve.ranges         retrieve.pattern     retrieve.answer     retrieve.outline_json retrieve.outline_tables
    retrieve.search         retrieve.outline_scan retrieve.last
    retrieve.read           retrieve.grep        retrieve.outline
    retrieve.look
    retrieve.tools
    retrieve.specs
    profiles
    profiles.vtcode_estimate profiles.vtcode_preview profiles.vtcode_display
    config.values
    config.files
    config.settings
    clipper
    budget                  adapters             adapters.parts      adapters.going_back adapters.json_text  adapters.lines
    adapters.claude_code    adapters.opencode    adapters.edits      adapters.install
    adapters.hosts
    adapters.mcp_message
    adapters.mcp_schema     adapters.mcp_tools
    adapters.mcp_result
    adapters.mcp_answer     adapters.mcp_catalog
    adapters.mcp_ask        adapters.mcp_stdio
    adapters.mcp_many
    adapters.mcp_relay      adapters.mcp_http
    adapters.mcp
    adapters.langchain      adapters.openai_agents adapters.pydantic_ai
    profiles.base           profiles.t15_shell   profiles.klaude_ui
    profiles.opencode_ids   profiles.opencode_permission profiles.opencode_lines profiles.opencode_media
    profiles.opencode       profiles.opencode_read
    profiles.opencode_bash  profiles.opencode_v2
    profiles.t15_commands   profiles.klaude_today profiles.daycare_text
    profiles.t15            profiles.klaude      profiles.daycare_exec profiles.daycare_rlm profiles.daycare_message
    profiles.daycare        profiles.vtcode
    cli.exits               cli.output           cli.live            cli.setup           cli.arguments
    cli.hook                cli.init             cli.installed       cli.mcp
    cli.doctor
    cli.clipping            cli.retrieval        cli.keeping
    cli.parser
    cli
"""
ROWS = {module: row for row, line in enumerate(ORDER.strip().splitlines()) for module in line.split()}

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
#: The package itself says which names are public and where they are; it stands above all and below all.
del FILES["__init__"]


def known_to(path):
    """Every module of ours that a file imports, wherever in the file, by its name without the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import names its module in full"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name.removeprefix("spillover.") in FILES else node.module for name in whole]
        else:
            continue
        yield from (name.removeprefix("spillover.") for name in names if name.startswith("spillover."))


def test_every_module_has_its_place():
    assert sorted(ROWS) == sorted(FILES)


@pytest.mark.parametrize("module", sorted(FILES))
def test_a_module_knows_only_what_stands_above_it(module):
    below = {other for other in known_to(FILES[module]) if ROWS[other] >= ROWS[module]}
    assert below == set()
