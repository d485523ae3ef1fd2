"""Whose death it was: pebble looks for dead workers in one thread and reads their messages in another.

A worker acknowledges a task, and may die of it at once. When the death is seen before that message
is read, pebble blames the task before, or takes the dead task for a running one, or the whole pool
for broken. Here deaths wait in line behind the messages: nothing that a dead worker wrote is unread
when its death is dealt with. A worker that dies without a task is replaced; when that happens again
and again, no worker can live, and the pool is broken indeed.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures.process import BrokenProcessPool

from pebble import ProcessPool

#: How often workers may die without a task while none is done.
_IDLE_DEATHS = 8


def in_order(pool: ProcessPool) -> ProcessPool:
    """`pool`, which deals with a death after all messages sent before it."""
    manager = pool._pool_manager  # noqa: SLF001 - pebble offers no other place for this
    bury, read = manager.handle_worker_expiration, manager.process_next_message
    dead: deque[tuple[int, int]] = deque()
    idle, left = 0, 0

    def next_message(timeout: float) -> None:
        nonlocal idle, left
        died = len(dead)
        if died and not manager.worker_manager.pool_channel.poll(0):  # type: ignore[union-attr]
            for worker, status in [dead.popleft() for _ in range(died)]:
                tasks = list(manager.task_manager.tasks.values())
                if any(task.worker_id == worker for task in tasks):
                    bury((worker, status))
                    continue
                idle, left = (idle + 1 if len(tasks) == left else 1), len(tasks)
                if idle >= _IDLE_DEATHS:
                    raise BrokenProcessPool(f"worker processes end with status {status} before they begin")
        read(timeout)

    manager.handle_worker_expiration = dead.append  # type: ignore[method-assign, assignment]
    manager.process_next_message = next_message  # type: ignore[method-assign]
    return pool
