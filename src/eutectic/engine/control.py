"""Loops and choices as steps of a plan: which addresses their bodies find, and how these move.

A body is a plan whose buffers are, in order, its inputs, its results, and its temporaries. Its
frame says where each lies in the buffers of the plan around it. The native runner runs the body
again and again on that frame and moves the addresses in between (`runtime.driver`). A body that
calls a Python library is run from here in the same way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eutectic.engine.steps import BranchStep, RepeatStep, Token
from eutectic.runtime import driver

if TYPE_CHECKING:
    from eutectic.engine.plan import Plan

Place = tuple[int, int]
"""(buffer of the plan, byte offset)."""
Places = Mapping[Token, Place]


@dataclass(frozen=True, slots=True)
class PythonRepeat:
    """A loop whose body calls a Python library."""

    body: Plan
    frame: list[Place]
    moves: list[tuple[int, int]]
    """(slot of the frame, bytes to go on after each step)."""
    swaps: list[tuple[int, int, int]]
    """(slot read, slot written, bytes) of each carry."""
    count: int
    """Steps, or -1: as long as the first carry is true."""

    def run_list(self, addresses: list[int]) -> None:
        frame = [addresses[b] + offset for b, offset in self.frame]
        done = 0
        while self._more(frame, done):
            for segment in self.body.segments:
                segment.run_list(frame)
            for slot, step in self.moves:
                frame[slot] += step
            for a, b, _nbytes in self.swaps:
                frame[a], frame[b] = frame[b], frame[a]
            done += 1
        if self.count < 0 and done % 2:
            for a, b, nbytes in self.swaps:
                ctypes.memmove(frame[b], frame[a], nbytes)

    def _more(self, frame: list[int], done: int) -> bool:
        if self.count >= 0:
            return done < self.count
        return _is_true(frame[self.swaps[0][0]])


@dataclass(frozen=True, slots=True)
class PythonBranch:
    """A choice of which a body calls a Python library."""

    choice: Place
    bodies: list[Plan]
    frames: list[list[Place]]

    def run_list(self, addresses: list[int]) -> None:
        taken = 0 if _is_true(addresses[self.choice[0]] + self.choice[1]) else 1
        frame = [addresses[b] + offset for b, offset in self.frames[taken]]
        for segment in self.bodies[taken].segments:
            segment.run_list(frame)


def _is_true(address: int) -> bool:
    return ctypes.c_uint8.from_address(address).value != 0


def repeat(s: RepeatStep, places: Places) -> tuple[driver.Step | None, PythonRepeat | None]:
    """The step of a loop: a native one, or where Python must be called the other kind."""
    _body, carries, xs, length, reverse = s.node.attrs
    body, inputs = s.body, s.node.inputs[carries:]
    frame = [places[a] for a, _b in s.carries]
    moves: list[tuple[int, int]] = []
    for i, (operand, (token, offset, strides)) in enumerate(zip(inputs, s.operands)):
        item = operand.dtype.size
        start = offset * item
        if i < xs and strides[0]:
            step = strides[0] * item
            if reverse:
                start, step = start + (length - 1) * step, -step
            moves.append((len(frame), step))
        frame.append(_at(places[token], start))
    swaps = []
    for i, (_a, b) in enumerate(s.carries):
        operand = s.node.inputs[i]
        swaps.append((i, len(frame), operand.size * operand.dtype.size))
        frame.append(places[b])
    outputs = s.node.attrs[0].outputs[carries:]
    for token, y in zip(s.stacked, outputs):
        step = y.size * y.dtype.size
        if step:
            moves.append((len(frame), -step if reverse else step))
        frame.append(_at(places[token], (length - 1) * step if reverse else 0))
    if body.arena:
        frame.append(places[s.arena])
    count = -1 if length is None else length
    if body.native_plan is None:
        return None, PythonRepeat(body, frame, moves, swaps, count)
    return driver.repeat_step(body.native_plan, frame, moves, swaps, count), None


def branch(s: BranchStep, places: Places) -> tuple[driver.Step | None, PythonBranch | None]:
    """The step of a choice: a native one, or where Python must be called the other kind."""
    operands = [_at(places[token], offset * n.dtype.size)
                for n, (token, offset, _s) in zip(s.node.inputs[1:], s.operands)]
    frames = [[*operands, *[places[t] for t in s.results], *([places[s.arena]] if p.arena else [])]
              for p in s.bodies]
    choice = _at(places[s.choice[0]], s.choice[1])
    plans = [p.native_plan for p in s.bodies]
    first, second = plans
    if first is None or second is None:
        return None, PythonBranch(choice, s.bodies, frames)
    return driver.branch_step((first, second), frames, choice), None


def _at(place: Place, offset: int) -> Place:
    return place[0], place[1] + offset
