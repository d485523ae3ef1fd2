"""Imported by the fork server, once: what every judge needs, and the server itself out of the backends' reach.

Judges are its copies: what a backend wrote into it would be in each of them.
"""

import os
import warnings

from opproof.harness.run.hardening import harden_process, restrict_connections, take_orphans
from opproof.harness.run.session import worker

__all__ = ["worker"]

harden_process()
restrict_connections(os.getppid())
take_orphans()  # what is left of the hosts of a judge that was killed: supervisors, as a rule, about to end
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")  # when they do
