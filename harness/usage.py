"""A wrong call: one sentence, exit status 2."""


class UsageError(ValueError):
    """The call itself is wrong; the text says what, what was expected, and what to do."""
