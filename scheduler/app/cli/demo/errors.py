"""What ends a demo early."""


class DemoError(Exception):
    """Something failed; the text is one line for the user."""
