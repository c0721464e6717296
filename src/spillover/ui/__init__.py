"""`spill ui`: what the model saw, what it did not, what it cost and what changed, on a page that only this machine can open.

    library    the outputs and runs that are there, kept in memory and brought up to date by names and times
    outputs    one of them, opened: its record, its lines, what is known of it
    again      an output clipped again, by the settings of now or by others
    find       where a pattern is, in one output and in all of them
    history    the runs of a command, and two of them compared
    figures    what the journal adds up to
    door       who may ask: token, Host and Origin
    app        which address answers what, and with which headers
    serve      the server, its address and the browser
    static/    the page: HTML, CSS and modules, as they are

Neighbours import `serve` from `inspector.serve`, and nothing else.
"""
