"""The memory of a call, as the judge lays it out and looks at it afterwards: `layout.py`."""
