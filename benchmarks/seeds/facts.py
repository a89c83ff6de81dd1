"""The facts of the two seed texts, and for each the check that answers it.

`sheet` is the sheet of facts about mx.compile, `page` the page with the benchmark. A check is a
name in `checks.CHECKS`; an empty one says that a fact cannot be run, and `why` says why.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One statement of a seed text."""

    source: str
    text: str
    check: str
    why: str = ""


_NOTE = "about who wrote or used what, not about compiling"

INBOUND = (
    Fact("sheet, inbound", "Phase 2 is compatible with mx.compile", "versor"),
    Fact("sheet, inbound", "Versor phase 2 is compatible with mx.compile", "versor"),
    Fact("sheet, inbound", "the decode step lacks mx.compile", "",
         "about their code; [decode](#decode) has what it would gain"),
    Fact("sheet, inbound", "their benchmark lacks mx.compile", "", _NOTE),
    Fact("sheet, inbound", "anchor mode benefits significantly more from it", "anchor"),
    Fact("sheet, inbound", "the resonance attention's Python loop breaks mx.compile", "resonance"),
    Fact("sheet, inbound", "xenonfun denies use of it", "", _NOTE),
    Fact("sheet, inbound", "it explains the behaviour of chat message 3", "", _NOTE),
    Fact("sheet, inbound", "the compiled variant is for compatibility with it", "layout"),
    Fact("sheet, inbound", "RotationalAdamW is incompatible with it", "rotational"),
    Fact("sheet, inbound", "rotational Adam W is incompatible with it", "rotational"),
    Fact("sheet, inbound", "training mode is mx.compile", "training"),
    Fact("sheet, inbound", "Lohe spherical plus Lohe v2 needs it as a fix for a throughput gap",
         "lohe"),
    Fact("sheet, inbound", "smoke-test runs use none of it", "", _NOTE),
    Fact("sheet, inbound", "pairwise mode sees a modest gain from it", "pairwise"),
)

ROWS = (
    Fact("sheet [10]", "rdf:type: compilation feature", "feature"),
    Fact("sheet [12]", "rdf:type: compiler feature", "feature"),
    Fact("sheet [10]", "potentially speeds up: forward pass", "forward"),
    Fact("sheet [10]", "potentially speeds up: loss computation", "forward"),
    Fact("sheet [1]", "applies to anchor more effectively: anchor mode", "anchor"),
    Fact("sheet [1]", "fuses kernels well: small kernel calls", "small_kernels"),
    Fact("sheet [1]", "tested without layout changes: model layout", "layout"),
    Fact("sheet [1]", "references external tool: mx framework", "", "a reference"),
    Fact("sheet [1]", "causes no divergence: training divergence", "divergence"),
    Fact("sheet [1]", "potential speed-up, percent: 30-50", "percent"),
    Fact("sheet [2]", "depends on fixing: tolist issue", "tolist"),
    Fact("sheet [2]", "was identified blocker: tolist", "tolist"),
    Fact("sheet [3]", "applies to decode: decode step", "decode"),
    Fact("sheet [4]", "likely closes gap", "lohe"),
    Fact("sheet [5]", "used with: RotationalAdamW", "rotational"),
    Fact("sheet [6]", "optimizes training: training run", "training"),
    Fact("sheet [6]", "training step enabled: true", "training"),
    Fact("sheet [7]", "is a Python MLX feature", "feature"),
    Fact("sheet [8]", "references JAX tool: JAX", "", "a reference"),
    Fact("sheet [8]", "bakes in globals: Python globals", "globals"),
    Fact("sheet [10]", "applies speed-up to: the path with the rotational optimizer", "rotational"),
    Fact("sheet [10]", "does not affect: forward-only path", "forward"),
    Fact("sheet [10]", "would help performance of: anchor KAN", "anchor"),
)

EXCERPTS = (
    Fact("sheet [9], excerpt", "mx.eval(loss, model.parameters(), optimizer.state) traverses the "
         "full tree of 113M parameters and Adam's state of twice that on every step", "eval_tree"),
    Fact("sheet [10], excerpt", "an FFN with DFT features specialises more richly", "ffn_dft"),
    Fact("sheet [11], excerpt", "mx.compile with RotationalAdamW is a dead end: the optimizer "
         "creates new array objects on each step, so inputs=[model.state] captures stale "
         "references; the error is \"array without primitive\"", "rotational"),
    Fact("sheet [12], excerpt", "versor extraction is complete, all tests pass", "versor"),
)

DISPUTES = (
    Fact("sheet, in dispute", "RotationalAdamW: used with mx.compile, and incompatible with it",
         "rotational"),
    Fact("sheet, in dispute", "the forward pass: potentially sped up, and the forward-only path "
         "not affected", "forward"),
)
"""The sheet counts two disagreements without naming them; these are the two contradictions in it
that can be run."""

PAGE = (
    Fact("page, what it does", "the first call traces operations into a single or a smaller set "
         "of kernels", "fusion"),
    Fact("page, what it does", "later calls with the same shapes and dtypes skip tracing",
         "fusion"),
    Fact("page, what it does", "fewer kernel launches, and intermediates that are never written to "
         "memory", "fusion"),
    Fact("page, benchmark", "twenty serial tanh on (512, 512): 0.97 ms plain, 0.31 compiled, 3.18x",
         "tanh"),
    Fact("page, benchmark", "meaningful, but not an order of magnitude", "tanh"),
    Fact("page, when to use it", "use it on hot functions with stable shapes: training steps, "
         "inference steps", "training"),
    Fact("page, when to use it", "do not use it on what is called a handful of times: the first "
         "call costs more than is saved", "first_call"),
    Fact("page, when to use it", "every new shape triggers a recompilation, which can dominate",
         "shapes"),
    Fact("page, what it doesn't do", "results are bit-identical or floating-point-equivalent",
         "bits"),
    Fact("page, what it doesn't do", "for memory-bound operations that are a single kernel already "
         "the speed-up is small or zero", "single_kernel"),
    Fact("page, what it doesn't do", "one matrix product: almost nothing", "matmul"),
    Fact("page, exercise", "(a) 4096 x 4096 for 512 x 512: does the speed-up hold, grow, shrink?",
         "sizes"),
    Fact("page, exercise", "(b) one operation for twenty: what happens to the speed-up?", "loops"),
)

FACTS = (*INBOUND, *ROWS, *EXCERPTS, *DISPUTES, *PAGE)
