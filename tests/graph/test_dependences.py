"""Dependences among groups, kept up while they grow: as a search finds them."""

from __future__ import annotations

import random

import pytest

from eutectic.graph.passes.dependences import Dependences
from eutectic.graph.passes.groups import Group


def searched(reads: dict[Group, set[Group]], g: Group, on: Group) -> bool:
    seen, stack = {g}, [g]
    while stack:
        for h in reads[stack.pop()] - seen:
            if h is on:
                return True
            seen.add(h)
            stack.append(h)
    return False


@pytest.mark.parametrize("seed", range(20))
def test_as_a_search(seed: int) -> None:
    rng = random.Random(seed)
    groups = [Group("map", [], {}) for _ in range(24)]
    reads: dict[Group, set[Group]] = {g: set() for g in groups}
    dependences = Dependences()
    answers = set()
    for _ in range(150):
        a, b = rng.sample(groups, 2)
        if rng.random() < 0.1 and len(groups) > 8:
            if dependences.apart(a, b):
                dependences.merge(a, b)
                groups.remove(b)
                reads[a] |= reads.pop(b)
                for read in reads.values():
                    if b in read:
                        read.remove(b)
                        read.add(a)
        elif not searched(reads, b, a) and len(reads[a]) < 3:  # a cycle otherwise
            dependences.add(a, b)
            reads[a].add(b)
        for g in groups:
            for h in groups:
                if g is not h:
                    found = dependences.depends(g, h)
                    assert found == searched(reads, g, h)
                    answers.add(found)
    assert answers == {True, False}


def test_what_was_never_noted_depends_on_nothing() -> None:
    a, b, c = (Group("map", [], {}) for _ in range(3))
    dependences = Dependences()
    assert dependences.apart(a, b)
    dependences.merge(a, b)
    dependences.add(c, a)
    dependences.add(a, a)
    assert dependences.depends(c, a) and not dependences.depends(a, c)
    assert not dependences.depends(a, a)
