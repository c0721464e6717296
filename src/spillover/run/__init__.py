"""Commands and lines of shell: run, clipped, noted, their exit as it was.

`command` runs an argument vector, `line` a line of shell, `note` leaves a record of the run.
"""
