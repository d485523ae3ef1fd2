"""How a backend is judged: plan, run, judge; the command line."""

__version__ = "0.1.0"
