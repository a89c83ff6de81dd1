"""Python functions on threads, for work that releases the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence


def together(jobs: Sequence[Callable[[], object]]) -> None:
    """Run jobs on a thread each; the first error is raised.

    >>> found = []
    >>> together([lambda: found.append(1), lambda: found.append(2)])
    >>> sorted(found)
    [1, 2]
    """
    errors: list[BaseException] = []

    def run(job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as e:
            errors.append(e)

    # Threads of their own: none is left behind for a fork to lose.
    threads = [threading.Thread(target=run, args=(j,)) for j in jobs[1:]]
    for t in threads:
        t.start()
    run(jobs[0])
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
