"""The examples at tiny sizes: bits of plain and compiled runs, threads, checkpoints, failures."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import eutectic.core as mx
from eutectic.runtime import pool
from eutectic.utils import tree_flatten

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
common: Any = importlib.import_module("common")

STEPS = 6
SMALL = {
    "classifier": "--batch 700 --width 16",  # an epoch of three batches, the last of 100
    "convnet": "--batch 32 --channels 4",
    "vae": "--batch 64 --width 16 --latent 4",
    "lstm": "--batch 4 --length 6 --width 16",
    "language_model": "--batch 2 --length 16 --layers 2 --width 32 --heads 2",
    "lora": "--batch 2 --length 16 --layers 2 --width 32 --heads 2",
}


def example(name: str) -> ModuleType:
    return importlib.import_module(name)


def options(name: str, more: str = "") -> argparse.Namespace:
    sizes = SMALL.get(name, "--layers 2 --width 32 --heads 2")
    return example(name).PARSER.parse_args([*sizes.split(), *more.split()])


def job(name: str) -> Any:
    return example(name).make(options(name, f"--steps {STEPS}"))


@pytest.fixture(params=SMALL)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


_plain: dict[str, list[float]] = {}


def plain(name: str) -> list[float]:
    """The loss curve of a plain run."""
    if name not in _plain:
        _plain[name] = common.train(job(name), STEPS, compiled=False).losses
    return _plain[name]


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = pool.get_num_threads()
    pool.set_num_threads(1)
    yield
    pool.set_num_threads(before)


def test_compiled_training_has_the_plain_loss_curve(name: str) -> None:
    run = common.train(job(name), STEPS, compiled=True)
    assert run.losses == plain(name) and len(set(run.losses)) == STEPS
    # One more for the optimizer's state, and one for a smaller batch.
    assert run.traces <= (3 if name == "classifier" else 2)


@pytest.mark.parametrize("compiled", [False, True])
def test_one_thread_has_the_loss_curve_of_two(name: str, compiled: bool, one_thread: None) -> None:
    assert common.train(job(name), STEPS, compiled).losses == plain(name)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_resumed_run_equals_an_uninterrupted_one(
        name: str, compiled: bool, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.safetensors"
    half = STEPS // 2
    first = job(name)
    losses = common.train(first, half, compiled).losses
    common.save(first, half, file)
    second = job(name)
    mx.random.seed(12345)  # what the seed was must not matter
    at = common.load(second, file)
    assert at == half
    losses += common.train(second, STEPS, compiled, at).losses
    assert losses == plain(name)
    whole = job(name)
    common.train(whole, STEPS, compiled)
    assert arrays(second) == arrays(whole)


def arrays(job: Any) -> dict[str, bytes]:
    return {path: bytes(x) for path, x in tree_flatten([job.model, job.optimizer.state])
            if isinstance(x, mx.array)}


def test_an_exception_in_the_middle_of_a_step_changes_nothing(name: str) -> None:
    """Raised after the optimizer's update, while a trace is made: at first and in mid-training."""
    failing = job(name)
    step, broken = failing.step, [True]

    def raising(*batch: mx.array) -> mx.array:
        loss = step(*batch)
        if broken:
            raise RuntimeError("in the middle")
        return loss

    failing.prepare()
    state = [failing.model.state, failing.optimizer.state, mx.random.state]
    compiled: Any = mx.compile(raising, inputs=state, outputs=state)
    losses = []
    for i in range(STEPS):
        if i in (0, 1, 3):
            broken[:] = [True]
            before, key = arrays(failing), mx.random.state[0].tolist()
            batch = failing.batch(i)
            if i == 3:  # another signature, so that the function runs
                batch = tuple([x[:1] for x in batch])
            with pytest.raises(RuntimeError, match="in the middle"):
                compiled(*batch)
            assert arrays(failing) == before and mx.random.state[0].tolist() == key
            broken.clear()
        losses.append(compiled(*failing.batch(i)).item())
    assert losses == plain(name)


def test_adapters_added_after_the_state_was_listed_are_trained() -> None:
    lora = job("lora")
    before = {p: bytes(x) for p, x in tree_flatten(lora.model.parameters())}
    assert not any("lora" in path for path in before)
    common.train(lora, STEPS, compiled=True)
    after = {p: bytes(x) for p, x in tree_flatten(lora.model.parameters())}
    b = [path for path in after if path.endswith("lora_b")]
    assert len(b) == 4 and all(any(after[path]) for path in b)
    assert {path.replace(".linear.", "."): x for path, x in after.items()
            if "lora_" not in path} == before


def test_dropout_draws_anew_in_each_step_and_can_be_repeated() -> None:
    """The same batch again, and weights that do not move: only the mask differs."""
    def losses(seed: int) -> list[float]:
        training = job("classifier")
        batch = training.batch(0)
        training.optimizer._schedulers.clear()
        training.optimizer.learning_rate = 0.0
        state = [training.model.state, training.optimizer.state, mx.random.state]
        step: Any = mx.compile(training.step, inputs=state, outputs=state)
        mx.random.seed(seed)
        return [step(*batch).item() for _ in range(STEPS)]

    first = losses(1)
    assert len(set(first)) == STEPS
    assert losses(1) == first and losses(2) != first


def test_a_schedule_of_the_learning_rate_does_not_trace_again() -> None:
    training = job("language_model")
    rates = []
    state = [training.model.state, training.optimizer.state, mx.random.state]
    step: Any = mx.compile(training.step, inputs=state, outputs=state)
    for i in range(STEPS):
        step(*training.batch(i))
        rates.append(training.optimizer.learning_rate.item())
    assert len(set(rates)) == STEPS and mx.compile_stats(step).traces == 2


def test_generation_is_traced_once_for_all_positions() -> None:
    generate = example("generate").generate
    given = options("generate", "--tokens 40")
    plain, compiled = generate(given, False), generate(given, True)
    assert compiled.tokens == plain.tokens and len(set(plain.tokens)) > 5
    assert compiled.traces == 2  # the prompt, and all tokens after it


def test_a_cache_gives_the_logits_of_the_whole_text() -> None:
    made = job("language_model")
    tokens, _ = made.batch(0)
    tokens = tokens[:1]
    whole = made.model(tokens)
    caches = made.model.caches(tokens.shape[1] + 3)
    for i in range(tokens.shape[1]):
        one = made.model(tokens[:, i:i + 1], caches, mx.array(i))
        assert mx.allclose(one[:, 0], whole[:, i], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("resume", [False, True])
def test_the_command_line(resume: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                          capsys: pytest.CaptureFixture[str]) -> None:
    def run(name: str, *more: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *SMALL[name].split(), *more])
        common.main(example(name).make, make_parser(name))
        return capsys.readouterr().out

    def make_parser(name: str) -> argparse.ArgumentParser:
        return common.parser("", **{k: v for k, v in vars(options(name)).items()
                                    if k not in ("seed", "only")})

    file = str(tmp_path / "vae.safetensors")
    out = run("vae", "--steps", "4", "--save", file)
    assert "the 4 losses are equal in every bit" in out
    if resume:
        assert "the 2 losses are equal in every bit" in run("vae", "--steps", "6", "--resume", file)


def test_curves_that_differ_end_the_program_with_an_error() -> None:
    runs = {way: common.Run([loss], [1.0]) for way, loss in (("plain", 1.0), ("compiled", 2.0))}
    with pytest.raises(SystemExit, match="differ"):
        common.show(runs)


def test_batches_of_an_epoch_hold_every_index_once() -> None:
    indices: Callable[[int], mx.array] = common.shuffled(10, 4, seed=0)
    batches = [indices(i).tolist() for i in range(6)]
    assert [len(b) for b in batches] == [4, 4, 2] * 2
    epochs = [[i for b in batches[e:e + 3] for i in b] for e in (0, 3)]
    assert all(sorted(e) == list(range(10)) for e in epochs) and epochs[0] != epochs[1]
