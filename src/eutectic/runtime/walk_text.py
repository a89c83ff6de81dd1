"""Looking for arrays without a value in large trees, as LLVM text.

`ev_py_walk(known, kinds, tree, pending)` follows CPython's fast calling convention: it appends the
arrays without a value to the list `pending` and returns None, or `MISS` where it meets what only
Python reads (`kinds` maps types to what `tree.container_kind` says of them).
"""

from __future__ import annotations

from eutectic.runtime.call_record import DATA, Known, Offsets

MAX_DEPTH = 200
"""Containers within containers that the native walk follows."""

_TEXT = """
declare i32 @PyList_Append(ptr, ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)

define internal i32 @ev_walk_item(ptr %known, ptr %kinds, ptr %x, ptr %pending, i64 %depth) #1 {
entry:
  %pos = alloca i64
  %key = alloca ptr
  %value = alloca ptr
  %tp = getelementptr i8, ptr %x, i64 TYPE
  %t = load ptr, ptr %tp
  %arrayp = getelementptr ptr, ptr %known, i64 ARRAY
  %array = load ptr, ptr %arrayp
  %isarray = icmp eq ptr %t, %array
  br i1 %isarray, label %look, label %container
look:
  %np = getelementptr i8, ptr %x, i64 NODE
  %n = load ptr, ptr %np
  %lost = icmp eq ptr %n, null
  br i1 %lost, label %unknown, label %data
data:
  %dp = getelementptr i8, ptr %n, i64 DATA
  %d = load ptr, ptr %dp
  %nonep = getelementptr ptr, ptr %known, i64 NONE
  %none = load ptr, ptr %nonep
  %unset = icmp eq ptr %d, %none
  br i1 %unset, label %append, label %known_item
append:
  %bad = call i32 @PyList_Append(ptr %pending, ptr %x)
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %known_item, label %unknown
container:
  %deep = icmp sgt i64 %depth, MAX_DEPTH
  br i1 %deep, label %unknown, label %kind
kind:
  %k = call ptr @PyDict_GetItemWithError(ptr %kinds, ptr %t)
  %nokind = icmp eq ptr %k, null
  br i1 %nokind, label %unknown, label %which
which:
  %more = add i64 %depth, 1
  %dictp = getelementptr ptr, ptr %known, i64 DICT
  %dict = load ptr, ptr %dictp
  %isdict = icmp eq ptr %k, %dict
  br i1 %isdict, label %pairs, label %other
other:
  %sequencep = getelementptr ptr, ptr %known, i64 SEQUENCE
  %sequence = load ptr, ptr %sequencep
  %issequence = icmp eq ptr %k, %sequence
  br i1 %issequence, label %list_or_tuple, label %leaf
leaf:
  %leafp = getelementptr ptr, ptr %known, i64 NO_CONTAINER
  %leafkind = load ptr, ptr %leafp
  %isleaf = icmp eq ptr %k, %leafkind
  br i1 %isleaf, label %subclass, label %unknown
subclass:
  %sub = call i32 @PyType_IsSubtype(ptr %t, ptr %array)
  %issub = icmp ne i32 %sub, 0
  br i1 %issub, label %look, label %known_item

pairs:
  store i64 0, ptr %pos
  br label %pair
pair:
  %got = call i32 @PyDict_Next(ptr %x, ptr %pos, ptr %key, ptr %value)
  %some = icmp ne i32 %got, 0
  br i1 %some, label %one, label %known_item
one:
  %v = load ptr, ptr %value
  call void @Py_IncRef(ptr %v)
  %r0 = call i32 @ev_walk_item(ptr %known, ptr %kinds, ptr %v, ptr %pending, i64 %more)
  call void @Py_DecRef(ptr %v)
  %ok0 = icmp ne i32 %r0, 0
  br i1 %ok0, label %pair, label %unknown

list_or_tuple:
  %listp = getelementptr ptr, ptr %known, i64 LIST
  %list = load ptr, ptr %listp
  %islist = icmp eq ptr %t, %list
  br label %item
item:
  %i = phi i64 [0, %list_or_tuple], [%i2, %next]
  br i1 %islist, label %list_size, label %tuple_size
list_size:                        ; asked each time: a list may change meanwhile
  %ls = call i64 @PyList_Size(ptr %x)
  br label %check
tuple_size:
  %ts = call i64 @PyTuple_Size(ptr %x)
  br label %check
check:
  %size = phi i64 [%ls, %list_size], [%ts, %tuple_size]
  %left = icmp slt i64 %i, %size
  br i1 %left, label %fetch, label %known_item
fetch:
  br i1 %islist, label %list_item, label %tuple_item
list_item:
  %li = call ptr @PyList_GetItem(ptr %x, i64 %i)
  br label %visit
tuple_item:
  %ti = call ptr @PyTuple_GetItem(ptr %x, i64 %i)
  br label %visit
visit:
  %it = phi ptr [%li, %list_item], [%ti, %tuple_item]
  call void @Py_IncRef(ptr %it)
  %r1 = call i32 @ev_walk_item(ptr %known, ptr %kinds, ptr %it, ptr %pending, i64 %more)
  call void @Py_DecRef(ptr %it)
  %ok1 = icmp ne i32 %r1, 0
  br i1 %ok1, label %next, label %unknown
next:
  %i2 = add i64 %i, 1
  br label %item

known_item:
  ret i32 1
unknown:
  ret i32 0
}

define ptr @ev_py_walk(ptr %self, ptr %args, i64 %nargs) #1 {
entry:
  %four = icmp eq i64 %nargs, 4
  br i1 %four, label %read, label %bad
read:
  %a0 = load ptr, ptr %args
  %known = call ptr @PyLong_AsVoidPtr(ptr %a0)
  %noknown = icmp eq ptr %known, null
  br i1 %noknown, label %bad, label %walk
walk:
  %a1p = getelementptr ptr, ptr %args, i64 1
  %kinds = load ptr, ptr %a1p
  %a2p = getelementptr ptr, ptr %args, i64 2
  %tree = load ptr, ptr %a2p
  %a3p = getelementptr ptr, ptr %args, i64 3
  %pending = load ptr, ptr %a3p
  %r = call i32 @ev_walk_item(ptr %known, ptr %kinds, ptr %tree, ptr %pending, i64 0)
  %done = icmp ne i32 %r, 0
  %nonep = getelementptr ptr, ptr %known, i64 NONE
  %missp = getelementptr ptr, ptr %known, i64 MISS
  br i1 %done, label %good, label %missed
missed:
  call void @PyErr_Clear()
  br label %good
good:
  %outp = phi ptr [%nonep, %walk], [%missp, %missed]
  %out = load ptr, ptr %outp
  call void @Py_IncRef(ptr %out)
  ret ptr %out
bad:
  %b = call i32 @PyErr_BadArgument()
  ret ptr null
}
"""


def walk_text(offsets: Offsets) -> str:
    """The functions of the walk, for a module with `call_declare.DECLARE`."""
    text = _TEXT.replace("MAX_DEPTH", str(MAX_DEPTH))
    for name, value in (("TYPE", offsets.type), ("NODE", offsets.array_node),
                        ("DATA", offsets.node[DATA])):
        text = text.replace(f"i64 {name}\n", f"i64 {value}\n")
    for known in Known:
        text = text.replace(f"i64 {known.name}\n", f"i64 {known.value}\n")
    return text
