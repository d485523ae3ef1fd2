"""The list of expected failures of a backend: read, matched, proposed, audited.

Front files: `known.py` reads a list, `findings.py` matches records with it and says which entries explain nothing,
`causes.py` loads the changed references that entries name, `proposals.py` writes new entries.
"""
