"""A module imports only modules above it in the list: at the top, inside functions, and for type checking alike."""

import ast
from pathlib import Path

import pytest

import spillover

ROOT = Path(spillover.__file__).parent

#: From top to bottom: no module imports one below it, or one in its own row. Add a new module where it belongs.
ORDER = """
    base  notice  secrets  show  run  wrap
    base.work                base.integers            base.deep
    errors                  base.units                shell               base.folders
    base.cache                   base.linear
    limits                  hosts                models               secrets.formats             shell.command       base.jsonc
    secrets.commands
    shell.inner             shell.split
    shell.tree              shell.keep
    shell.line              shell.pipes
    shell.talk
    tokens                  rules                wrap.shape
    intake                  view                 select              store               retrieve           config
    intake.blob             intake.meter         intake.sources      intake.terminal     intake.beside
    intake.guard
    intake.take
    intake.pipe
    intake.child
    view.invisible          view.frames          view.erased         view.lookalike
    view.clean              view.forged
    view.document           secrets.readings
    select.arrays
    since.compare
    since
    select.pack             select.log              select.span             select.engine        select.json         select.outliers     select.wanted
    select.json.scan        select.json.strings  select.query        notice.words        select.json.pointer  select.seek
    notice.hints
    notice.wording
    notice.since
    notice.clipped
    notice.marker  notice.calls
    notice.sentences
    select.json.almost
    select.json.members     select.json.fields
    select.json.record
    select.json.lean
    select.json.alike
    select.json.rare
    select.ends       select.listing      select.diff_parts
    select.outlined         select.told          select.found       secrets.outputs
    select.exact            secrets.streams
    select.log.classes      select.log.repeats      select.log.beginnings   select.log.words
    select.log.lines
    select.log.features     select.log.scan
    select.log.score        select.log.choose
    select.log.spans
    select.log.signal
    select.log.news
            select.json.gaps     select.elements
     select.json.room
         select.json.parse
            select.blob          select.table        select.diff         select.markup
           select.page          select.prose
    select.json.value       select.json.ndjson
    select.json.near
    select.kind             select.source        select.definitions  select.search
    select.json.texts
    select.auto             types
    result                  store.scope
    store.base
    store.record            store.owners         store.folder        store.frames
    store.runs              journal
    stats
    store.reading           store.tally          store.memory        store.scoped        store.contract
    store.retention
    store.quota             store.packing
    store.directory         store.bucket
    store.named             store.object_store
    store.joined
    show.memo
    show.render
    notice.form
    config.guard
    config.place
    choices
    show.made
    events                   retrieve.opening
    since.earlier
    show.fit                     show.plain
    show.cut                testing
    pipeline
    capture                 blocks               run.command         blocks.shapes
    blocks.texts
    blocks.together
    blocks.many
    run.filters             wrap.errors
    wrap.bound
    run.line
    wrap.function
    retrieve.uri            retrieve.ranges      retrieve.pattern     retrieve.answer     retrieve.outline_json retrieve.outline_tables
    retrieve.part
    retrieve.search         retrieve.outline_scan retrieve.last       retrieve.asked
    retrieve.read           retrieve.grep        retrieve.outline     retrieve.diff
    retrieve.look
    retrieve.several
    retrieve.tools
    retrieve.specs
    profiles
    profiles.vtcode.estimate
    config.values
    config.trust            config.file
    config.files
    config.narrow
    config.settings
    config.host
    clipper
    budget                  adapters             adapters.parts      adapters.hook_plain adapters.install   adapters.asked
    adapters.hooked
    adapters.claude_code    adapters.opencode    adapters.install.json_text adapters.cline adapters.copilot adapters.codex adapters.gemini adapters.install.toml_text
    adapters.pi
    adapters.install.edits
    adapters.install.files
    adapters.install.hosts
    adapters.mcp.message    adapters.mcp.stdio   adapters.mcp.url
    adapters.mcp.result
    adapters.mcp.answer     adapters.mcp.tools
    adapters.mcp.relay
    adapters.mcp
    inspector
    inspector.library
    inspector.outputs       inspector.figures
    inspector.again         inspector.find       inspector.history
    inspector.door
    inspector.app
    inspector.serve
    adapters.langchain      adapters.openai_agents adapters.pydantic_ai
    profiles.base
    profiles.opencode.read
    profiles.t15.commands
    profiles.opencode       profiles.t15         profiles.klaude     profiles.daycare    profiles.vtcode
    cli.output
    cli.exits               cli.setup            cli.arguments       cli.mistakes        cli.units
    cli.commands            cli.refs
    cli.hook                cli.init             cli.installed       cli.mcp             cli.trust           cli.ui
    cli.clipping            cli.retrieval        cli.keeping         cli.about          cli.cleaning
    cli.stats               cli.doctor
    cli.sh
    cli.parser
    cli
"""
ROWS = {module: row for row, line in enumerate(ORDER.strip().splitlines()) for module in line.split()}

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
#: The package itself lists the public names and where they are; it may import any module, and any module may import it.
del FILES["__init__"]


def known_to(path):
    """Return every module of the package that a file imports anywhere, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports must be absolute"
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
