"""Streams and devices as arguments of operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, ArgumentTypeError

HERE = [None, mx.cpu, mx.Device(mx.cpu), mx.default_stream(mx.cpu), mx.new_stream(mx.cpu),
        mx.new_thread_local_stream(mx.cpu)]
PLACES = {"mx": mx, "mx.fast": mx.fast, "mx.fft": mx.fft, "mx.linalg": mx.linalg,
          "mx.random": mx.random, "array": mx.array}


def with_streams() -> dict[str, Callable[..., Any]]:
    """Every public function with a `stream` of its own, but for those about streams."""
    found = {}
    for place, owner in PLACES.items():
        for name, value in vars(owner).items():
            if (inspect.isfunction(value) and "stream" in inspect.signature(value).parameters
                    and name not in ("synchronize", "set_default_stream", "__dlpack__")):
                found[f"{place}.{name}"] = value
    return found


STREAMED = with_streams()


@pytest.mark.parametrize("name", STREAMED)
def test_every_operation_refuses_what_is_no_stream(name: str) -> None:
    call = STREAMED[name]
    needed = [mx.ones((2, 2)) for p in inspect.signature(call).parameters.values()
              if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for wrong, error, text in (
            (mx.ones(2), ArgumentTypeError, r"stream must be a stream or a device, not a array\."),
            ("cpu", ArgumentTypeError, r"stream must be a stream or a device, not a str\."),
            (0, ArgumentTypeError, r"stream must be a stream or a device, not a int\."),
            (mx.gpu, ArgumentError, r"there is no device DeviceType\.gpu")):
        with pytest.raises(error, match=r"^\[\w+\] " + text):
            call(*needed, stream=wrong)


def test_there_are_many() -> None:
    assert len(STREAMED) > 250, sorted(STREAMED)


def test_a_third_array_is_no_result_to_write_to() -> None:
    a = mx.ones(2)
    for call in (mx.add, mx.multiply, mx.maximum):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"[{call.__name__}] stream must be")):
            call(a, a, a)
    with pytest.raises(ArgumentTypeError, match=r"\[permutation\] stream must be"):
        mx.random.permutation(4, 0, None, a)


@pytest.mark.parametrize("stream", HERE, ids=repr)
def test_streams_and_devices_that_are_there(stream: Any) -> None:
    a = mx.array([[1.0, 2.0], [3.0, 4.0]])
    assert mx.add(a, a, stream=stream).tolist() == mx.add(a, a, stream).tolist()
    assert mx.exp(mx.zeros(2, stream=stream), stream=stream).tolist() == [1, 1]
    assert mx.where(a > 2, a, 0, stream=stream).tolist() == [[0, 0], [3, 4]]
    assert a.sum(axis=0, stream=stream).tolist() == [4, 6]
    assert a.reshape(4, stream=stream).shape == (4,)
    assert mx.random.randint(0, 9, (3,), stream=stream).shape == (3,)
    assert mx.fast.rms_norm(a, None, 1e-5, stream=stream).shape == (2, 2)
