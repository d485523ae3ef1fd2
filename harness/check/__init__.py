"""One candidate against one reference: any PyTorch function or module, and whatever is to take its place.

Front files, in the order of a check: `api.py` takes the arguments of `opproof.check`, `by_operator.py` those of a check
by an operator's name; `run.py` goes from inputs to the report, `options.py` holds what was asked for.
"""
