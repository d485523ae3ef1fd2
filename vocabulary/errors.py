"""Bad input: one sentence that says what, expected, got and what to do next; the command line exits with 2."""


class BadInput(ValueError):
    """What somebody gave opproof is wrong; the text is a sentence for them."""


class UsageError(BadInput):
    """The call itself is wrong."""


class CaseError(BadInput):
    """A case id or a row of a case file is malformed."""


class OpError(BadInput):
    """An operator's file, or an operator's name, is not what it should be."""


class BackendError(BadInput):
    """A backend cannot be loaded: missing file, missing package, wrong ABI."""


class ResultsError(BadInput):
    """A results file is missing, corrupt, or of another schema version."""
