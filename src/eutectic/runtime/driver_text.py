"""The plan runner and its Python entry points as LLVM text; `driver` explains the plan's layout."""

from __future__ import annotations

from eutectic.runtime.pool_base import MAX_THREADS
from eutectic.runtime.pool_text import GROUP_STEPS

STACK_WORDS = 1024
"""Lists up to this length are copied to the stack, longer ones to the heap."""

# Every entry takes the lock without giving up the GIL if it can. When another thread holds the lock
# the GIL is let go first: that thread may need it to come to its end.
_GUARD = """
define void @{name}(ptr %a, ptr %b, i64 %c, i64 %d, i64 %release) #0 {{
entry:
  %polite = icmp ne i64 %release, 0
  br i1 %polite, label %wait, label %try
try:
  %ok = call i32 @ev_trylock()
  %got = icmp ne i32 %ok, 0
  br i1 %got, label %quick, label %wait
quick:
  {call}
  call void @ev_unlock()
  ret void
wait:
  %state = call ptr @PyEval_SaveThread()
  call void @ev_lock()
  {call}
  call void @ev_unlock()
  call void @PyEval_RestoreThread(ptr %state)
  ret void
}}
"""

_LAUNCH = f"""call void @ev_allow(i64 {MAX_THREADS})
  call void @ev_parallel(ptr %a, ptr %b, i64 %c, i64 %d)"""


def _guard(name: str, call: str) -> str:
    return _GUARD.format(name=name, call=call)


def native_text() -> str:
    """`ev_run`, loops over plans, and what CPython's fast calling convention calls."""
    return f"""
declare void @ev_parallel(ptr, ptr, i64, i64)
declare void @ev_group(ptr, i64)
declare void @ev_allow(i64)
declare void @ev_lock()
declare i32 @ev_trylock()
declare void @ev_unlock()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare ptr @PyErr_Occurred()
declare i32 @PyErr_BadArgument()
declare void @Py_IncRef(ptr)
declare ptr @malloc(i64)
declare ptr @memcpy(ptr, ptr, i64)
declare void @free(ptr)

; params[slot] = bufs[buffer] + offset for each patch of a step.
define internal void @ev_patch(ptr %step, ptr %bufs) alwaysinline #0 {{
entry:
  %cp = getelementptr i64, ptr %step, i64 5
  %count = load i64, ptr %cp
  %none = icmp eq i64 %count, 0
  br i1 %none, label %done, label %begin
begin:
  %pp = getelementptr i64, ptr %step, i64 2
  %params = load ptr, ptr %pp
  %tp = getelementptr i64, ptr %step, i64 6
  %table = load ptr, ptr %tp
  br label %loop
loop:
  %i = phi i64 [0, %begin], [%i2, %loop]
  %p = phi ptr [%table, %begin], [%p2, %loop]
  %slot = load i64, ptr %p
  %bp = getelementptr i64, ptr %p, i64 1
  %buffer = load i64, ptr %bp
  %op = getelementptr i64, ptr %p, i64 2
  %offset = load i64, ptr %op
  %from = getelementptr i64, ptr %bufs, i64 %buffer
  %base = load i64, ptr %from
  %address = add i64 %base, %offset
  %to = getelementptr i64, ptr %params, i64 %slot
  store i64 %address, ptr %to
  %i2 = add i64 %i, 1
  %p2 = getelementptr i64, ptr %p, i64 3
  %more = icmp slt i64 %i2, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}

define internal void @ev_steps(ptr %plan, ptr %bufs) #1 {{
entry:
  %n = load i64, ptr %plan
  %allowedp = getelementptr i64, ptr %plan, i64 2
  %allowed = load i64, ptr %allowedp
  call void @ev_allow(i64 %allowed)
  %first = getelementptr i64, ptr %plan, i64 3
  %bytes = shl i64 %n, 6
  %end = getelementptr i8, ptr %first, i64 %bytes
  br label %next
next:
  %step = phi ptr [%first, %entry], [%after, %ran], [%gnext, %group]
  %over = icmp uge ptr %step, %end
  br i1 %over, label %done, label %one
one:
  call void @ev_patch(ptr %step, ptr %bufs)
  %after = getelementptr i64, ptr %step, i64 8
  %kind = load i64, ptr %step
  %fnp = getelementptr i64, ptr %step, i64 1
  %fn = load ptr, ptr %fnp
  %pp = getelementptr i64, ptr %step, i64 2
  %params = load ptr, ptr %pp
  %np = getelementptr i64, ptr %step, i64 3
  %size = load i64, ptr %np
  %isrange = icmp eq i64 %kind, 0
  br i1 %isrange, label %range, label %plain
plain:
  call void %fn(ptr %params, i64 0, i64 %size, i64 0)
  call void @ev_allow(i64 %allowed) ; it may have run a plan of its own
  br label %ran
range:
  %flagp = getelementptr i64, ptr %step, i64 7
  %flags = load i64, ptr %flagp
  %bit = and i64 %flags, 1
  %joins = icmp ne i64 %bit, 0
  br i1 %joins, label %gather, label %alone
alone:
  %gp = getelementptr i64, ptr %step, i64 4
  %grain = load i64, ptr %gp
  call void @ev_parallel(ptr %fn, ptr %params, i64 %size, i64 %grain)
  br label %ran
ran:
  br label %next

; The longest run of range steps each flagged as independent of the one after it.
gather:
  %count = phi i64 [1, %range], [%count2, %grow]
  %last = phi ptr [%step, %range], [%gstep, %grow]
  %gstep = getelementptr i64, ptr %last, i64 8
  %lfp = getelementptr i64, ptr %last, i64 7
  %lf = load i64, ptr %lfp
  %lbit = and i64 %lf, 1
  %lends = icmp eq i64 %lbit, 0
  %gover = icmp uge ptr %gstep, %end
  %full = icmp sge i64 %count, {GROUP_STEPS}
  %s0 = or i1 %lends, %gover
  %s1 = or i1 %s0, %full
  br i1 %s1, label %group, label %peek
peek:
  %gkind = load i64, ptr %gstep
  %gother = icmp ne i64 %gkind, 0
  br i1 %gother, label %group, label %grow
grow:
  call void @ev_patch(ptr %gstep, ptr %bufs)
  %count2 = add i64 %count, 1
  br label %gather
group:
  %gbytes = shl i64 %count, 6
  %gnext = getelementptr i8, ptr %step, i64 %gbytes
  call void @ev_group(ptr %step, i64 %count)
  br label %next
done:
  ret void
}}

; A loop over a plan, as a step: see `driver.repeat_step` for the words at %p.
define void @ev_repeat(ptr %p, i64 %lo, i64 %n, i64 %tid) #1 {{
entry:
  %plan = load ptr, ptr %p
  %cp = getelementptr i64, ptr %p, i64 1
  %count = load i64, ptr %cp
  %mp = getelementptr i64, ptr %p, i64 2
  %nmoves = load i64, ptr %mp
  %sp = getelementptr i64, ptr %p, i64 3
  %nswaps = load i64, ptr %sp
  %tp = getelementptr i64, ptr %p, i64 4
  %at = load i64, ptr %tp
  %bufs = getelementptr i64, ptr %p, i64 5
  %moves = getelementptr i64, ptr %p, i64 %at
  %mwords = shl i64 %nmoves, 1
  %swaps = getelementptr i64, ptr %moves, i64 %mwords
  %swords = mul i64 %nswaps, 3
  %end = getelementptr i64, ptr %swaps, i64 %swords
  %asks = icmp slt i64 %count, 0
  br label %head
head:
  %i = phi i64 [0, %entry], [%i2, %next]
  br i1 %asks, label %ask, label %counted
ask:
  %firstslot = load i64, ptr %swaps
  %firstp = getelementptr ptr, ptr %bufs, i64 %firstslot
  %first = load ptr, ptr %firstp
  %byte = load i8, ptr %first
  %true = icmp ne i8 %byte, 0
  br i1 %true, label %run, label %over
counted:
  %left = icmp slt i64 %i, %count
  br i1 %left, label %run, label %over
run:
  call void @ev_steps(ptr %plan, ptr %bufs)
  br label %move
move:
  %m = phi ptr [%moves, %run], [%m2, %moving]
  %moved = icmp uge ptr %m, %swaps
  br i1 %moved, label %swap, label %moving
moving:
  %mslot = load i64, ptr %m
  %mstepp = getelementptr i64, ptr %m, i64 1
  %mstep = load i64, ptr %mstepp
  %mbufp = getelementptr i64, ptr %bufs, i64 %mslot
  %mold = load i64, ptr %mbufp
  %mnew = add i64 %mold, %mstep
  store i64 %mnew, ptr %mbufp
  %m2 = getelementptr i64, ptr %m, i64 2
  br label %move
swap:
  %s = phi ptr [%swaps, %move], [%s2, %swapping]
  %swapped = icmp uge ptr %s, %end
  br i1 %swapped, label %next, label %swapping
swapping:
  %sa = load i64, ptr %s
  %sbp = getelementptr i64, ptr %s, i64 1
  %sb = load i64, ptr %sbp
  %ap = getelementptr i64, ptr %bufs, i64 %sa
  %bp = getelementptr i64, ptr %bufs, i64 %sb
  %a = load i64, ptr %ap
  %b = load i64, ptr %bp
  store i64 %b, ptr %ap
  store i64 %a, ptr %bp
  %s2 = getelementptr i64, ptr %s, i64 3
  br label %swap
next:
  %i2 = add i64 %i, 1
  br label %head

; A loop that asked has its results in the other buffers after an odd number of steps.
over:
  %bit = and i64 %i, 1
  %odd = icmp ne i64 %bit, 0
  %away = and i1 %odd, %asks
  br i1 %away, label %copy, label %done
copy:
  %c = phi ptr [%swaps, %over], [%c2, %copying]
  %copied = icmp uge ptr %c, %end
  br i1 %copied, label %done, label %copying
copying:
  %ca = load i64, ptr %c
  %cbp = getelementptr i64, ptr %c, i64 1
  %cb = load i64, ptr %cbp
  %cnp = getelementptr i64, ptr %c, i64 2
  %cn = load i64, ptr %cnp
  %fromp = getelementptr ptr, ptr %bufs, i64 %ca
  %top = getelementptr ptr, ptr %bufs, i64 %cb
  %from = load ptr, ptr %fromp
  %to = load ptr, ptr %top
  %ignored = call ptr @memcpy(ptr %to, ptr %from, i64 %cn)
  %c2 = getelementptr i64, ptr %c, i64 3
  br label %copy
done:
  ret void
}}

; One of two plans, as a step: see `driver.branch_step` for the words at %p.
define void @ev_branch(ptr %p, i64 %lo, i64 %n, i64 %tid) #1 {{
entry:
  %choice = load ptr, ptr %p
  %byte = load i8, ptr %choice
  %no = icmp eq i8 %byte, 0
  %k = select i1 %no, i64 2, i64 0
  %pk = add i64 %k, 1
  %bk = add i64 %k, 2
  %planp = getelementptr i64, ptr %p, i64 %pk
  %plan = load ptr, ptr %planp
  %atp = getelementptr i64, ptr %p, i64 %bk
  %at = load i64, ptr %atp
  %bufs = getelementptr i64, ptr %p, i64 %at
  call void @ev_steps(ptr %plan, ptr %bufs)
  ret void
}}

define i64 @ev_run(ptr %plan, ptr %bufs) #0 {{
  call void @ev_lock()
  call void @ev_steps(ptr %plan, ptr %bufs)
  call void @ev_unlock()
  ret i64 0
}}
{_guard("ev_guarded_run", "call void @ev_steps(ptr %a, ptr %b)")}
{_guard("ev_guarded_launch", _LAUNCH)}

; self is None, so that returning it needs no address of the interpreter's.
define ptr @ev_py_run(ptr %self, ptr %args, i64 %nargs) #0 {{
entry:
  %two = icmp eq i64 %nargs, 2
  br i1 %two, label %read, label %bad
read:
  %a0 = load ptr, ptr %args
  %plan = call ptr @PyLong_AsVoidPtr(ptr %a0)
  %a1p = getelementptr ptr, ptr %args, i64 1
  %a1 = load ptr, ptr %a1p
  %noplan = icmp eq ptr %plan, null
  br i1 %noplan, label %check, label %read1
read1:
  %bufs = call ptr @PyLong_AsVoidPtr(ptr %a1)
  %nobufs = icmp eq ptr %bufs, null
  br i1 %nobufs, label %maybe, label %go
maybe:                            ; a plan without patches needs no buffers
  %e1 = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %e1, null
  br i1 %fine, label %go, label %fail
go:
  %rp = getelementptr i64, ptr %plan, i64 1
  %release = load i64, ptr %rp
  call void @ev_guarded_run(ptr %plan, ptr %bufs, i64 0, i64 0, i64 %release)
  call void @Py_IncRef(ptr %self)
  ret ptr %self
check:
  %e0 = call ptr @PyErr_Occurred()
  %set = icmp ne ptr %e0, null
  br i1 %set, label %fail, label %bad
bad:
  %b = call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}}

; Copy a list of n integers to %to; 0 when all were integers.
define internal i32 @ev_copy(ptr %list, ptr %to, i64 %n) #1 {{
entry:
  %none = icmp sle i64 %n, 0
  br i1 %none, label %good, label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %stored]
  %item = call ptr @PyList_GetItem(ptr %list, i64 %i)
  %value = call ptr @PyLong_AsVoidPtr(ptr %item)
  %zero = icmp eq ptr %value, null
  br i1 %zero, label %maybe, label %stored
maybe:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %stored, label %bad
stored:
  %p = getelementptr ptr, ptr %to, i64 %i
  store ptr %value, ptr %p
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %n
  br i1 %more, label %loop, label %good
good:
  ret i32 0
bad:
  ret i32 1
}}

define ptr @ev_py_run_list(ptr %self, ptr %args, i64 %nargs) #0 {{
entry:
  %two = icmp eq i64 %nargs, 2
  br i1 %two, label %read, label %bad
read:
  %a0 = load ptr, ptr %args
  %plan = call ptr @PyLong_AsVoidPtr(ptr %a0)
  %noplan = icmp eq ptr %plan, null
  br i1 %noplan, label %check, label %read1
read1:
  %a1p = getelementptr ptr, ptr %args, i64 1
  %list = load ptr, ptr %a1p
  %n = call i64 @PyList_Size(ptr %list)
  %nolist = icmp slt i64 %n, 0
  br i1 %nolist, label %bad, label %room
room:
  %long = icmp sgt i64 %n, {STACK_WORDS}
  br i1 %long, label %heap, label %stack
heap:
  %size = shl i64 %n, 3
  %hb = call ptr @malloc(i64 %size)
  %nomem = icmp eq ptr %hb, null
  br i1 %nomem, label %bad, label %copy
stack:
  %sb = alloca i64, i64 %n, align 16
  br label %copy
copy:
  %bufs = phi ptr [%hb, %heap], [%sb, %stack]
  %error = call i32 @ev_copy(ptr %list, ptr %bufs, i64 %n)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %after, label %go
go:
  %rp = getelementptr i64, ptr %plan, i64 1
  %release = load i64, ptr %rp
  call void @ev_guarded_run(ptr %plan, ptr %bufs, i64 0, i64 0, i64 %release)
  br label %after
after:
  br i1 %long, label %release_heap, label %out
release_heap:
  call void @free(ptr %bufs)
  br label %out
out:
  br i1 %failed, label %fail, label %good
good:
  call void @Py_IncRef(ptr %self)
  ret ptr %self
check:
  %e0 = call ptr @PyErr_Occurred()
  %set = icmp ne ptr %e0, null
  br i1 %set, label %fail, label %bad
bad:
  %b = call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}}

; launch(fn, n, grain, release, params): one kernel with its parameters given as a list.
define ptr @ev_py_launch(ptr %self, ptr %args, i64 %nargs) #0 {{
entry:
  %words = alloca [4 x i64], align 16
  %five = icmp eq i64 %nargs, 5
  br i1 %five, label %read, label %bad
read:
  %i = phi i64 [0, %entry], [%i2, %stored]
  %ap = getelementptr ptr, ptr %args, i64 %i
  %a = load ptr, ptr %ap
  %value = call ptr @PyLong_AsVoidPtr(ptr %a)
  %zero = icmp eq ptr %value, null
  br i1 %zero, label %maybe, label %stored
maybe:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %stored, label %fail
stored:
  %wp = getelementptr ptr, ptr %words, i64 %i
  store ptr %value, ptr %wp
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, 4
  br i1 %more, label %read, label %params
params:
  %lp = getelementptr ptr, ptr %args, i64 4
  %list = load ptr, ptr %lp
  %n = call i64 @PyList_Size(ptr %list)
  %nolist = icmp slt i64 %n, 0
  %long = icmp sgt i64 %n, {STACK_WORDS}
  %wrong = or i1 %nolist, %long
  %fn = load ptr, ptr %words
  %sp = getelementptr i64, ptr %words, i64 1
  %size = load i64, ptr %sp
  %gp = getelementptr i64, ptr %words, i64 2
  %grain = load i64, ptr %gp
  %rp = getelementptr i64, ptr %words, i64 3
  %release = load i64, ptr %rp
  %nofn = icmp eq ptr %fn, null
  %nograin = icmp slt i64 %grain, 1
  %w0 = or i1 %wrong, %nofn
  %w1 = or i1 %w0, %nograin
  br i1 %w1, label %bad, label %copy
copy:
  %block = alloca i64, i64 %n, align 16
  %failed = call i32 @ev_copy(ptr %list, ptr %block, i64 %n)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %go, label %fail
go:
  call void @ev_guarded_launch(ptr %fn, ptr %block, i64 %size, i64 %grain, i64 %release)
  call void @Py_IncRef(ptr %self)
  ret ptr %self
bad:
  %b = call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}}

attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind noinline }}
"""
