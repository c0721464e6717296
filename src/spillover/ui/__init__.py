"""`spill ui`: what the model saw, what it did not, what it cost and what changed, on a page only this machine can open.

    server     routes, access checks, serving, opening a browser
    library    stored outputs and runs as rows, kept up to date by file times
    outputs    one output: its lines, search, replay, what-if, comparison, figures
    static/    the page: HTML, CSS and modules, served as they are; it polls `/api/outputs?since=VERSION`

`cli/outputs.py` imports `serve` from `ui.server`, and nothing else imports this package.
"""
