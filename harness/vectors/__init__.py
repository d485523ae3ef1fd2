"""Cases as files: what a simulator, a board or a program in any language is given, and what is expected of it.

Front file: `export.py`.
"""
