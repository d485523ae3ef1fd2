"""The program: it imports a backend's file or a candidate, calls it, and keeps what comes.

It is copied beside its jobs and runs under a name of its own there: no import of this package, no name of it. So these
files import each other relatively.
"""
