"""The program: what it does with a backend's file is import it, call it, keep what comes.

It is copied beside its jobs and runs under a name of its own there: no import of this package, no name of it. So these
files import each other relatively.
"""
