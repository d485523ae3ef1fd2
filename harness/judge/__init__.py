"""How an answer is judged: the bound of each element, the whole array, kinks, the verdict.

Front files, in the order of a judgement: `outputs.py` holds an answer, `bound.py` compares elements,
`array_statistics.py` arrays, `alternatives.py` waives what is right otherwise, `gradient.py` and
`self_oracle.py` judge gradients, `chunks.py` large cases, `judgement.py` reaches the verdict; `causes.py` says whether
a known cause explains a failure.
"""
