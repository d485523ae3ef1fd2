"""Imported by the fork server, once: what every judge needs, and the server itself out of the backends' reach.

Judges are its copies: what a backend wrote into it would be in each of them.
"""

from scipy import special

from opproof.harness.run import judges
from opproof.harness.run.reach import withdraw

__all__ = ["judges", "special"]

withdraw()
