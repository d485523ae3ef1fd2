"""Imported by the fork server, once: what every judge needs, and the server itself out of the backends' reach.

Judges are its copies: what a backend wrote into it would be in each of them.
"""

import os
import warnings

from scipy import special

from opproof.harness.run import judges
from opproof.harness.run.fork_server import listen_to
from opproof.harness.run.reach import adopt, withdraw

__all__ = ["judges", "special"]

withdraw()
listen_to(os.getppid())
adopt()  # what is left of the hosts of a judge that was killed: keepers, as a rule, about to end
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")  # when they do
