"""What is expected of a case: its data, the reference's values and gradients, the error scale of each element.

Front files, in the order of a question: `valid_case.py` says whether a case can be asked, `axes.py` along which axes it
repeats, `data.py` draws its tensors, `question.py` holds them, `expected.py` evaluates, `error_scale.py` measures
roundoff under noise, `kinks.py` helps with gradients; chunks/ is for large cases, torch/ for any PyTorch function.
"""
