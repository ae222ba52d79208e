"""``wharfinger sandbox``: the in-memory API server as a process of its own."""

import argparse

from scheduler.sandbox import command


def main(arguments: list[str]) -> int:
    """Serve until stopped; the exit code is returned."""
    parser = argparse.ArgumentParser(
        prog="wharfinger sandbox",
        description=command.SUMMARY,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))
