"""A Dask scheduler and workers, each a process of its own."""

import os
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Started:
    """A scheduler and workers that are started in `folder`, with `environment` beside this process's."""

    def __init__(self, folder, protocol="tcp", environment=None):
        self.folder, self.environment, self.processes = folder, {**os.environ, **(environment or {})}, []
        self.port, self.protocol = free_port(), protocol
        self.address = f"{protocol}://127.0.0.1:{self.port}"
        self.scheduler = self.start_scheduler()

    def start_scheduler(self):
        host = f"{self.protocol}://127.0.0.1"
        self.scheduler = self._start("scheduler", "--port", self.port, "--host", host, "--no-dashboard")
        return self.scheduler

    def start_worker(self, *more):
        return self._start("worker", self.address, "--nthreads", 1, "--no-nanny", "--no-dashboard", *more)

    def _start(self, *args):
        program = "import sys; from dask.__main__ import main; sys.argv[0] = 'dask'; main()"
        command = [sys.executable, "-c", program, *map(str, args)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen(command, cwd=self.folder, env=self.environment, **quiet))
        return self.processes[-1]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
