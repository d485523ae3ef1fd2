"""A run in parts, on several machines: each case and mode belongs to one shard, by a hash of its id.

So the shards are disjoint and complete, of about equal size, and a case stays in its shard whatever other
cases come or go.
"""

from __future__ import annotations

import hashlib
import re

from opproof.core.errors import UsageError


def parse(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises UsageError."""
    match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"malformed shard {text!r}: expected K/N with 1 <= K <= N, such as 2/5.")
    return int(match[1]), int(match[2])


def shard_of(case: str, mode: str, count: int) -> int:
    """Which of `count` shards the case and mode belong to, from 1."""
    if count == 1:  # as in most runs, of thousands of cases
        return 1
    digest = hashlib.blake2b(f"{case} {mode}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count + 1
