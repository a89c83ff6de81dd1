"""The compiled call as LLVM text: check the arguments, run the plan, make the results.

`ev_py_call(record, args, kwargs)` follows CPython's fast calling convention. The record is an
array of 64-bit words (`call_record`) with three small programs: the guard fetches objects into
registers and checks them, the result program builds what the function returns, and the fill program
writes to captured containers and arrays. A guard that does not hold returns the object `MISS`.

Every object fetched is held by a reference of its own until the call ends, so that nothing another
thread does while the GIL is released takes memory away.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.runtime.call_declare import DECLARE
from eutectic.runtime.call_record import (
    DATA, DTYPE, SHAPE, Build, Convert, Fill, Known, Offsets, Op, Word)
from eutectic.runtime.llvm_lines import Lines
from eutectic.runtime.walk_text import walk_text

_ON_STACK = 16_384
"""Words of a frame that lies on the stack; a larger one is allocated."""


def _match(o: Offsets) -> str:
    """`i32 ev_match(record, frame, args, kwargs)`: 1 where the guard holds."""
    t = Lines()
    t.put("%key = alloca ptr")
    t.put("%value = alloca ptr")
    t.put("%over = alloca i32")
    t.put("%at = alloca ptr")
    types = t.load("%record", 8 * Word.TYPES)
    array_type, node_type = t.load(types, 8 * Known.ARRAY), t.load(types, 8 * Known.NODE)
    data_type = t.load(types, 8 * Known.DATA)
    own, foreign = t.load(types, 8 * Known.OWN_BUFFER), t.load(types, 8 * Known.FOREIGN_BUFFER)

    def part(which: Word) -> str:
        return t.word("%frame", t.load("%record", 8 * which, "i64"))

    data, positions, addresses = part(Word.DATA), part(Word.POSITIONS), part(Word.ADDRESSES)
    for index, root in enumerate(("%args", "%kwargs")):
        t.put(f"call void @Py_IncRef(ptr {root})")
        t.store(root, "%frame", 8 * index)
    t.store(t.load("%record", 8 * Word.GUARD), "%at")
    t.go("next")
    t.label("step")
    t.store(t.byte(t.load("%at"), 48), "%at")
    t.go("next")
    t.label("next")
    i = t.load("%at")
    a, b, c, e = [t.load(i, 8 * k, "i64") for k in (1, 2, 3, 5)]
    pb, pc, pd = [t.load(i, 8 * k) for k in range(2, 5)]
    to = t.word("%frame", a)
    x = t.load(to)
    cases = " ".join(f"i64 {op.value}, label %op{op.value}" for op in Op)
    t.put(f"switch i64 {t.load(i, 0, 'i64')}, label %miss [{cases}]")

    def keep(value: str) -> None:
        """r[a] = a borrowed object; NULL is a miss."""
        t.require(t.do(f"icmp ne ptr {value}, null"))
        t.put(f"call void @Py_IncRef(ptr {value})")
        t.store(value, to)
        t.go("step")

    def own_it(value: str) -> None:
        t.require(t.do(f"icmp ne ptr {value}, null"))
        t.store(value, to)
        t.go("step")

    def holds(condition: str) -> None:
        t.jump(condition, "step", "miss")

    def register(number: str) -> str:
        return t.read("%frame", number)

    def op(which: Op) -> None:
        t.label(f"op{which.value}")

    op(Op.END)
    t.put("ret i32 1")
    op(Op.TYPE)
    holds(t.equal(t.load(x, o.type), pb))
    op(Op.TUPLE)
    holds(t.equal(t.call("i64", "PyTuple_Size", f"ptr {x}"), b, "i64"))
    op(Op.LIST)
    holds(t.equal(t.call("i64", "PyList_Size", f"ptr {x}"), b, "i64"))
    op(Op.DICT)
    t.store("0", t.word(positions, a), type="i64")
    holds(t.equal(t.call("i64", "PyDict_Size", f"ptr {x}"), b, "i64"))
    op(Op.TUPLE_ITEM)
    keep(t.call("ptr", "PyTuple_GetItem", f"ptr {register(b)}", f"i64 {c}"))
    op(Op.LIST_ITEM)
    keep(t.call("ptr", "PyList_GetItem", f"ptr {register(b)}", f"i64 {c}"))

    op(Op.DICT_ITEM)
    more = t.call("i32", "PyDict_Next", f"ptr {register(b)}", f"ptr {t.word(positions, b)}",
                  "ptr %key", "ptr %value")
    t.require(t.do(f"icmp ne i32 {more}, 0"))
    key = t.load("%key")
    t.jump(t.equal(key, pc), "item", "other")
    t.label("other")
    t.require(t.do(f"icmp ne ptr {pd}, null"))
    t.require(t.equal(t.load(key, o.type), pd))  # both exactly str: compare the text
    t.require(t.equal(t.call("i32", "PyUnicode_Compare", f"ptr {key}", f"ptr {pc}"), "0", "i32"))
    t.go("item")
    t.label("item")
    keep(t.load("%value"))

    op(Op.ARRAY)
    t.require(t.equal(t.load(x, o.type), array_type))
    node = t.load(x, o.array_node)
    t.require(t.do(f"icmp ne ptr {node}, null"))
    t.require(t.equal(t.load(node, o.type), node_type))
    memory = t.load(node, o.node[DATA])
    t.require(t.do(f"icmp ne ptr {memory}, null"))
    t.require(t.equal(t.load(memory, o.type), data_type))
    t.require(t.equal(t.load(node, o.node[DTYPE]), pc))
    for held, wanted in ((t.load(node, o.node[SHAPE]), pb), (t.load(memory, o.data[2]), pd)):
        same = t.call("i32", "ev_same", f"ptr {held}", f"ptr {wanted}")
        t.require(t.do(f"icmp ne i32 {same}, 0"))
    t.jump(t.do(f"icmp slt i64 {e}, 0"), "step", "use")
    t.label("use")
    buffer = t.load(memory, o.data[0])
    kind = t.load(buffer, o.type)
    t.require(t.do(f"or i1 {t.equal(kind, own)}, {t.equal(kind, foreign)}"))
    base = t.call("ptr", "PyLong_AsVoidPtr", f"ptr {t.load(buffer, o.buffer_ptr)}")
    offset = t.call("i64", "PyLong_AsLongLong", f"ptr {t.load(memory, o.data[1])}")
    t.store(t.do(f"getelementptr i8, ptr {base}, i64 {offset}"), t.word(addresses, e))
    t.put(f"call void @Py_IncRef(ptr {memory})")
    t.store(memory, t.word(data, e))
    t.go("step")

    op(Op.IS)
    holds(t.equal(x, pb))
    op(Op.SAME)
    holds(t.equal(x, register(b)))
    op(Op.INT)
    value = t.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {x}", "ptr %over")
    t.require(t.equal(t.load("%over", type="i32"), "0", "i32"))
    holds(t.equal(value, b, "i64"))
    op(Op.FLOAT)
    bits = t.do(f"bitcast double {t.call('double', 'PyFloat_AsDouble', f'ptr {x}')} to i64")
    holds(t.equal(bits, b, "i64"))
    op(Op.STR)
    t.jump(t.equal(x, pb), "step", "text")
    t.label("text")
    holds(t.equal(t.call("i32", "PyUnicode_Compare", f"ptr {x}", f"ptr {pb}"), "0", "i32"))
    op(Op.LOAD)
    keep(pb)
    op(Op.CELL)
    own_it(t.call("ptr", "PyCell_Get", f"ptr {pb}"))
    op(Op.NAME)
    keep(t.call("ptr", "PyDict_GetItemWithError", f"ptr {register(b)}", f"ptr {pc}"))
    op(Op.NO_NAME)
    holds(t.equal(t.call("i32", "PyDict_Contains", f"ptr {x}", f"ptr {pb}"), "0", "i32"))
    op(Op.ATTRIBUTES)
    own_it(t.call("ptr", "PyObject_GenericGetDict", f"ptr {register(b)}", "ptr null"))
    op(Op.FUNCTION)
    for name, wanted in (("Code", pb), ("Defaults", pc), ("KwDefaults", pd)):
        t.require(t.equal(t.call("ptr", f"PyFunction_Get{name}", f"ptr {x}"), wanted))
    t.go("step")
    op(Op.METHOD)
    method = register(c)
    this = t.call("ptr", "PyMethod_Self", f"ptr {method}")
    t.require(t.do(f"icmp ne ptr {this}, null"))
    t.put(f"call void @Py_IncRef(ptr {this})")
    t.store(this, t.word("%frame", b))
    keep(t.call("ptr", "PyMethod_Function", f"ptr {method}"))
    op(Op.MEMBER)
    own_it(t.call("ptr", "PyObject_GetAttr", f"ptr {register(b)}", f"ptr {pc}"))
    op(Op.SET)
    holds(t.equal(t.call("i64", "PySet_Size", f"ptr {x}"), b, "i64"))
    op(Op.SET_ITEM)
    holds(t.equal(t.call("i32", "PySet_Contains", f"ptr {x}", f"ptr {pb}"), "1", "i32"))
    op(Op.NUMBER)
    _number(t, x, b, c, t.word(addresses, e))
    op(Op.DISTINCT)
    distinct = t.call("i32", "ev_distinct", "ptr %record", "ptr %frame", f"ptr {pb}", f"i64 {c}")
    holds(t.do(f"icmp ne i32 {distinct}, 0"))
    t.label("miss")
    t.put("call void @PyErr_Clear()")
    t.put("ret i32 0")
    body = "\n".join(t.lines)
    return ("define internal i32 @ev_match(ptr %record, ptr %frame, ptr %args, ptr %kwargs) #1 {\n"
            f"entry:\n{body}\n}}\n")


def _number(t: Lines, x: str, how: str, width: str, to: str) -> None:
    """Store the bit pattern of a Python number."""
    t.jump(t.equal(how, str(Convert.FLOAT_FLOAT.value), "i64"), "from_float", "from_int")
    t.label("from_float")
    given = t.call("double", "PyFloat_AsDouble", f"ptr {x}")
    t.go("to_float")
    t.label("from_int")
    whole = t.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {x}", "ptr %over")
    checked = t.require(t.equal(t.load("%over", type="i32"), "0", "i32"))
    turned = t.do(f"sitofp i64 {whole} to double")
    t.jump(t.equal(how, str(Convert.INT_FLOAT.value), "i64"), "to_float", "to_int")
    t.label("to_float")
    value = t.do(f"phi double [{given}, %from_float], [{turned}, %{checked}]")
    t.jump(t.equal(width, "64", "i64"), "double", "single")
    t.label("double")
    t.store(t.do(f"bitcast double {value} to i64"), to, type="i64")
    t.go("step")
    t.label("single")
    narrow = t.do(f"bitcast float {t.do(f'fptrunc double {value} to float')} to i32")
    t.store(t.do(f"zext i32 {narrow} to i64"), to, type="i64")
    t.go("step")
    t.label("to_int")
    unused = t.do(f"sub i64 64, {width}")
    high = t.do(f"shl i64 {whole}, {unused}")
    pattern = t.do(f"lshr i64 {high}, {unused}")
    signed = t.equal(t.do(f"ashr i64 {high}, {unused}"), whole, "i64")
    unsigned = t.do(f"and i1 {t.equal(pattern, whole, 'i64')}, "
                    f"{t.do(f'icmp sge i64 {whole}, 0')}")
    is_signed = t.equal(how, str(Convert.INT_SIGNED.value), "i64")
    t.require(t.do(f"select i1 {is_signed}, i1 {signed}, i1 {unsigned}"))
    t.store(pattern, to, type="i64")
    t.go("step")


# Equal objects: the same, or tuples of integers with equal items.
_SAME = """
define internal i32 @ev_same(ptr %a, ptr %b) alwaysinline #0 {
entry:
  %same = icmp eq ptr %a, %b
  br i1 %same, label %yes, label %compare
compare:
  %r = call i32 @PyObject_RichCompareBool(ptr %a, ptr %b, i32 2)
  %is = icmp eq i32 %r, 1
  br i1 %is, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 0
}

; Open addressing on the record's scratch table; the GIL is held.
define internal i32 @ev_distinct(ptr %record, ptr %frame, ptr %numbers, i64 %n) #1 {
entry:
  %tp = getelementptr i64, ptr %record, i64 TABLE
  %table = load ptr, ptr %tp
  %mp = getelementptr i64, ptr %record, i64 MASK
  %mask = load i64, ptr %mp
  %size = add i64 %mask, 1
  %bytes = shl i64 %size, 3
  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 %bytes, i1 false)
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %placed]
  %done = icmp sge i64 %i, %n
  br i1 %done, label %yes, label %one
one:
  %np = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %np
  %xp = getelementptr i64, ptr %frame, i64 %number
  %x = load i64, ptr %xp
  %mixed = mul i64 %x, 11400714819323198485
  %hash = lshr i64 %mixed, 20
  br label %probe
probe:
  %h = phi i64 [%hash, %one], [%h2, %taken]
  %slot = and i64 %h, %mask
  %sp = getelementptr i64, ptr %table, i64 %slot
  %held = load i64, ptr %sp
  %free = icmp eq i64 %held, 0
  br i1 %free, label %placed, label %check
check:
  %twice = icmp eq i64 %held, %x
  br i1 %twice, label %no, label %taken
taken:
  %h2 = add i64 %h, 1
  br label %probe
placed:
  store i64 %x, ptr %sp
  %i2 = add i64 %i, 1
  br label %loop
yes:
  ret i32 1
no:
  ret i32 0
}
""".replace("TABLE", str(int(Word.TABLE))).replace("MASK", str(int(Word.TABLE_MASK)))


def _make(o: Offsets) -> str:
    """`ptr ev_make(types, output, buffer, offset)`: a new array; takes the offset's reference."""
    t = Lines()
    node_type, data_type = t.load("%types", 8 * Known.NODE), t.load("%types", 8 * Known.DATA)
    array_type = t.load("%types", 8 * Known.ARRAY)
    shape, dtype, strides = [t.load("%output", 8 * k) for k in (3, 4, 5)]
    fresh: list[str] = []
    for kind in (data_type, node_type, array_type):
        new = t.call("ptr", "PyType_GenericAlloc", f"ptr {kind}", "i64 0")
        t.require(t.do(f"icmp ne ptr {new}, null"), f"lost{len(fresh)}")
        fresh.append(new)
        # Neither refers to anything that could refer back: the cycle collector need not see them.
        t.put(f"call void @PyObject_GC_UnTrack(ptr {new})")
    data, node, made = fresh

    def put(value: str, at: str, offset: int, borrowed: bool = True) -> None:
        if borrowed:
            t.put(f"call void @Py_IncRef(ptr {value})")
        t.store(value, at, offset)

    put("%buffer", data, o.data[0])
    put("%offset", data, o.data[1], borrowed=False)
    put(strides, data, o.data[2])
    none, empty = t.load("%types", 8 * Known.NONE), t.load("%types", 8 * Known.EMPTY)
    values = (t.load("%types", 8 * Known.INPUT), empty, empty, shape, dtype, None, none, none)
    for value, at in zip(values, o.node, strict=True):
        if value is not None:
            put(value, node, at)
    put(data, node, o.node[DATA], borrowed=False)
    put(node, made, o.array_node, borrowed=False)
    t.put(f"ret ptr {made}")
    for number, held in ((2, (node, data)), (1, (data,)), (0, ())):
        t.label(f"lost{number}")
        for each in (*held, "%offset"):
            t.put(f"call void @Py_DecRef(ptr {each})")
        t.put("ret ptr null")
    body = "\n".join(t.lines)
    return ("define internal ptr @ev_make(ptr %types, ptr %output, ptr %buffer, ptr %offset) #1 {\n"
            f"entry:\n{body}\n}}\n")


def _run(o: Offsets) -> str:
    """`ptr ev_finish(record, frame)`: run the plan, make the results; NULL with an error set."""
    t = Lines()
    for name in ("captured", "fresh", "outputs", "tuple", "list", "dict", "plain"):
        t.put(f"%{name}_i = alloca i64")
    t.put("%at = alloca ptr")
    t.put("%top = alloca ptr")
    types = t.load("%record", 8 * Word.TYPES)

    def word(which: Word) -> str:
        return t.load("%record", 8 * which, "i64")

    def part(which: Word) -> str:
        return t.word("%frame", word(which))

    data, buffers, results = part(Word.DATA), part(Word.BUFFERS), part(Word.RESULTS)
    addresses = part(Word.ADDRESSES)
    inputs, n_captured, n_outputs = word(Word.INPUTS), word(Word.CAPTURED), word(Word.OUTPUTS)
    table = t.load("%record", 8 * Word.CAPTURED_TABLE)
    first = word(Word.CAPTURED_AT)
    i = t.loop("captured", n_captured)
    pair = t.word(table, t.do(f"shl i64 {i}, 1"))
    place = t.do(f"add i64 {first}, {i}")
    t.store(t.load(pair), t.word(addresses, place))
    held = t.load(pair, 8)
    t.put(f"call void @Py_IncRef(ptr {held})")
    t.store(held, t.word(data, place))
    t.end_loop("captured")

    alloc, sizes = t.load(types, 8 * Known.ALLOC), t.load("%record", 8 * Word.SIZES)
    i = t.loop("fresh", word(Word.FRESH))
    size = t.read(sizes, i)
    buffer = t.do("call ptr (ptr, ...) @PyObject_CallFunctionObjArgs("
                  f"ptr {alloc}, ptr {size}, ptr null)")
    t.require(t.do(f"icmp ne ptr {buffer}, null"), "fail")
    t.store(buffer, t.word(buffers, i))
    pointer = t.call("ptr", "PyLong_AsVoidPtr", f"ptr {t.load(buffer, o.buffer_ptr)}")
    t.store(pointer, t.word(addresses, t.do(f"add i64 {inputs}, {i}")))
    t.end_loop("fresh")

    plan = t.load("%record", 8 * Word.PLAN)
    release = t.load(plan, 8, "i64")
    t.put(f"call void @ev_guarded_run(ptr {plan}, ptr {addresses}, i64 0, i64 0, i64 {release})")

    outputs = t.load("%record", 8 * Word.OUTPUT_TABLE)
    i = t.loop("outputs", n_outputs)
    output = t.word(outputs, t.do(f"mul i64 {i}, 6"))
    number, shift = t.load(output, 0, "i64"), t.load(output, 8, "i64")
    beyond = t.do(f"sub i64 {number}, {inputs}")
    t.jump(t.do(f"icmp sge i64 {beyond}, 0"), "own", "given")
    t.label("own")
    own_buffer, own_offset = t.read(buffers, beyond), t.load(output, 16)
    t.put(f"call void @Py_IncRef(ptr {own_offset})")
    t.go("made")
    t.label("given")
    source = t.read(data, number)
    given_buffer = t.load(source, o.data[0])
    at = t.call("i64", "PyLong_AsLongLong", f"ptr {t.load(source, o.data[1])}")
    given_offset = t.call("ptr", "PyLong_FromLongLong", f"i64 {t.do(f'add i64 {at}, {shift}')}")
    given_end = t.require(t.do(f"icmp ne ptr {given_offset}, null"), "fail")
    t.go("made")
    t.label("made")
    buffer = t.do(f"phi ptr [{own_buffer}, %own], [{given_buffer}, %{given_end}]")
    offset = t.do(f"phi ptr [{own_offset}, %own], [{given_offset}, %{given_end}]")
    new = t.call("ptr", "ev_make", f"ptr {types}", f"ptr {output}", f"ptr {buffer}",
                 f"ptr {offset}")
    t.require(t.do(f"icmp ne ptr {new}, null"), "fail")
    t.store(new, t.word(results, i))
    t.end_loop("outputs")

    _fill(t, o, results)
    program = t.load("%record", 8 * Word.BUILD)
    t.jump(t.equal(program, "null"), "plain", "build")
    t.label("plain")
    out = t.call("ptr", "PyList_New", f"i64 {n_outputs}")
    t.require(t.do(f"icmp ne ptr {out}, null"), "fail")
    i = t.loop("plain", n_outputs)
    new = t.read(results, i)
    t.put(f"call void @Py_IncRef(ptr {new})")
    t.call("i32", "PyList_SetItem", f"ptr {out}", f"i64 {i}", f"ptr {new}")
    t.end_loop("plain")
    t.put(f"ret ptr {out}")
    t.label("build")
    _build(t, program, results, part(Word.STACK))
    t.label("fail")
    t.put("ret ptr null")
    body = "\n".join(t.lines)
    return f"define internal ptr @ev_finish(ptr %record, ptr %frame) #1 {{\nentry:\n{body}\n}}\n"


def _fill(t: Lines, o: Offsets, results: str) -> None:
    t.store(t.load("%record", 8 * Word.FILL), "%at")
    t.go("fill_next")
    t.label("fill_next")
    i = t.load("%at")
    t.store(t.byte(i, 32), "%at")
    into = t.read("%frame", t.load(i, 8, "i64"))
    key, index = t.load(i, 16), t.load(i, 16, "i64")
    value = t.read(results, t.load(i, 24, "i64"))
    cases = " ".join(f"i64 {op.value}, label %fill{op.value}" for op in Fill)
    t.put(f"switch i64 {t.load(i, 0, 'i64')}, label %fail [{cases}]")
    t.label(f"fill{Fill.NODE.value}")
    node, old = t.load(value, o.array_node), t.load(into, o.array_node)
    t.put(f"call void @Py_IncRef(ptr {node})")
    t.store(node, into, o.array_node)
    t.put(f"call void @Py_DecRef(ptr {old})")
    t.go("fill_next")
    t.label(f"fill{Fill.DICT.value}")
    bad = t.call("i32", "PyDict_SetItem", f"ptr {into}", f"ptr {key}", f"ptr {value}")
    t.jump(t.equal(bad, "0", "i32"), "fill_next", "fail")
    t.label(f"fill{Fill.LIST.value}")
    t.put(f"call void @Py_IncRef(ptr {value})")
    bad = t.call("i32", "PyList_SetItem", f"ptr {into}", f"i64 {index}", f"ptr {value}")
    t.jump(t.equal(bad, "0", "i32"), "fill_next", "fail")
    t.label(f"fill{Fill.END.value}")


def _build(t: Lines, program: str, results: str, stack: str) -> None:
    t.store(program, "%at")
    t.store(stack, "%top")
    t.go("build_next")
    t.label("build_next")
    i = t.load("%at")
    t.store(t.byte(i, 24), "%at")
    count, other = t.load(i, 8, "i64"), t.load(i, 8)
    keys = t.load(i, 16)
    top = t.load("%top")
    base = t.word(top, t.do(f"sub i64 0, {count}"))
    cases = " ".join(f"i64 {op.value}, label %build{op.value}" for op in Build)
    t.put(f"switch i64 {t.load(i, 0, 'i64')}, label %fail [{cases}]")

    def push(value: str, at: str) -> None:
        t.store(value, at)
        t.store(t.word(at, "1"), "%top")
        t.go("build_next")

    t.label(f"build{Build.RESULT.value}")
    value = t.read(results, count)
    t.put(f"call void @Py_IncRef(ptr {value})")
    push(value, top)
    t.label(f"build{Build.CONSTANT.value}")
    t.put(f"call void @Py_IncRef(ptr {other})")
    push(other, top)
    for op, kind in ((Build.TUPLE, "Tuple"), (Build.LIST, "List")):
        name = kind.lower()
        t.label(f"build{op.value}")
        new = t.call("ptr", f"Py{kind}_New", f"i64 {count}")
        t.require(t.do(f"icmp ne ptr {new}, null"), "fail")
        k = t.loop(name, count)
        t.call("i32", f"Py{kind}_SetItem", f"ptr {new}", f"i64 {k}", f"ptr {t.read(base, k)}")
        t.end_loop(name)
        push(new, base)
    t.label(f"build{Build.DICT.value}")
    new = t.call("ptr", "PyDict_New")
    t.require(t.do(f"icmp ne ptr {new}, null"), "fail")
    k = t.loop("dict", count)
    value = t.read(base, k)
    bad = t.call("i32", "PyDict_SetItem", f"ptr {new}", f"ptr {t.read(keys, k)}", f"ptr {value}")
    t.put(f"call void @Py_DecRef(ptr {value})")
    t.require(t.equal(bad, "0", "i32"), "fail")
    t.end_loop("dict")
    push(new, base)
    t.label(f"build{Build.END.value}")
    t.put(f"ret ptr {t.load(stack)}")


def _entry() -> str:
    t = Lines()
    t.put("%i_i = alloca i64")
    t.put("%frame_at = alloca ptr")
    t.require(t.do("icmp eq i64 %nargs, 3"), "bad")
    record = t.call("ptr", "PyLong_AsVoidPtr", f"ptr {t.load('%args')}")
    t.require(t.do(f"icmp ne ptr {record}, null"), "bad")
    args, kwargs = t.load("%args", 8), t.load("%args", 16)
    words = t.load(record, 8 * Word.FRAME, "i64")
    size = t.do(f"shl i64 {words}, 3")
    large = t.do(f"icmp ugt i64 {words}, {_ON_STACK}")
    on_stack = t.do(f"select i1 {large}, i64 0, i64 {words}")
    stack = t.do(f"alloca i64, i64 {on_stack}, align 16")
    t.store(stack, "%frame_at")
    t.jump(large, "allocate", "begin")
    t.label("allocate")
    allocated = t.call("ptr", "PyMem_RawMalloc", f"i64 {size}")
    t.store(allocated, "%frame_at")
    t.jump(t.equal(allocated, "null"), "no_memory", "begin")
    t.label("begin")
    frame = t.load("%frame_at")
    t.put(f"call void @llvm.memset.p0.i64(ptr {frame}, i8 0, i64 {size}, i1 false)")
    same = t.call("i32", "ev_match", f"ptr {record}", f"ptr {frame}", f"ptr {args}",
                  f"ptr {kwargs}")
    t.jump(t.do(f"icmp ne i32 {same}, 0"), "hit", "miss")
    t.label("hit")
    done = t.call("ptr", "ev_finish", f"ptr {record}", f"ptr {frame}")
    t.store(t.do(f"add i64 {t.load(record, 0, 'i64')}, 1"), record, type="i64")
    t.go("clean")
    t.label("miss")
    missed = t.load(t.load(record, 8 * Word.TYPES), 8 * Known.MISS)
    t.put(f"call void @Py_IncRef(ptr {missed})")
    t.go("clean")
    t.label("clean")
    out = t.do(f"phi ptr [{done}, %hit], [{missed}, %miss]")
    i = t.loop("i", t.load(record, 8 * Word.OWNED, "i64"))
    held = t.read(frame, i)
    t.jump(t.equal(held, "null"), "skip", "drop")
    t.label("drop")
    t.put(f"call void @Py_DecRef(ptr {held})")
    t.go("skip")
    t.label("skip")
    t.end_loop("i")
    t.jump(large, "free", "out")
    t.label("free")
    t.put(f"call void @PyMem_RawFree(ptr {frame})")
    t.go("out")
    t.label("out")
    t.put(f"ret ptr {out}")
    t.label("no_memory")
    t.call("ptr", "PyErr_NoMemory")
    t.put("ret ptr null")
    t.label("bad")
    t.call("i32", "PyErr_BadArgument")
    t.put("ret ptr null")
    body = "\n".join(t.lines)
    return f"define ptr @ev_py_call(ptr %self, ptr %args, i64 %nargs) #1 {{\nentry:\n{body}\n}}\n"


def native_text(offsets: Offsets) -> str:
    """The module that defines `ev_py_call` and `ev_py_walk` for objects with these offsets."""
    parts: Sequence[str] = (DECLARE, _SAME, _match(offsets), _make(offsets), _run(offsets),
                            _entry(), walk_text(offsets), "attributes #0 = { nounwind }\n",
                            "attributes #1 = { nounwind noinline }\n")
    return "\n".join(parts)
