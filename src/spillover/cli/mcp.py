"""`spill mcp`: our tools as a server, alone or in front of another one."""

from __future__ import annotations

import os
from string import Template

from spillover.cli import exits
from spillover.cli.output import complain
from spillover.cli.setup import make_clipper_anyway
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client is gone; report a server behind us that ends first."""
    from spillover.mcp import serve  # asyncio is paid for by those who serve

    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if argv and arguments.url:
        raise UsageError("use only one of a command and --url.")
    if arguments.no_tools and not (argv or arguments.url):
        raise UsageError("--no-tools leaves nothing to serve; name a server to put spill in front of.")
    chosen, wrong = make_clipper_anyway(arguments, ("tools",))
    if wrong:
        complain(wrong)
    headers = read_headers(arguments.header)
    if headers and not arguments.url:
        raise UsageError("--header needs --url: a server that spill starts reads the environment instead.")
    if os.isatty(0):
        complain("waiting for an MCP client on stdin; Ctrl-C to stop")
    offer = not arguments.no_tools
    how = serve(chosen, command=argv, url=arguments.url, headers=headers, offer=offer, complain=complain)
    if how is None:
        return exits.OK
    complain(f"the MCP server {how}")
    return exits.GONE


def read_headers(lines: list[str]) -> dict[str, str]:
    """Return the headers from `NAME: VALUE`; no message repeats a value, which may be secret."""
    headers = {}
    for line in lines:
        name, colon, template = line.partition(":")
        name = name.strip()
        if not colon or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise UsageError("--header must be 'NAME: VALUE', for example --header 'Authorization: Bearer $TOKEN'.")
        try:
            value = Template(template).substitute(os.environ).strip()
        except KeyError as error:
            raise UsageError(f"--header {name}: the environment variable {error.args[0]} is not set.") from error
        except ValueError as error:
            raise UsageError(f"--header {name}: write $$ for a $ that begins no name of a variable.") from error
        if not value.isascii() or not value.isprintable():
            raise UsageError(f"--header {name}: the value may only have printable ASCII characters.")
        headers[name] = value
    return headers
