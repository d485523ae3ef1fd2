"""The list of expected failures of a backend: read, matched, proposed, audited.

Front files: `known.py` reads a list, `findings.py` matches records with it, `causes.py` loads the changed
references that entries name, `proposals.py` writes new entries, `audit.py` says which ones explain nothing.
"""
