"""The thread pool's workers and regions as LLVM text; `pool` explains how they work."""

from __future__ import annotations

from eutectic.runtime import pool_base as base
from eutectic.runtime.pool_base import MAX_THREADS, SEGMENT_BYTES, THREAD_BYTES, THREADS, at

CHUNKS_PER_THREAD = 4
GROUP_STEPS = 512
"""Most steps that `ev_group` puts into one region."""


def native_text(machine: str, futex_call: int | None, set_mask: int) -> str:
    """The pool as LLVM text for a machine; without a futex it sleeps on a condition variable."""
    pause_call = base.pause(machine)[1]
    return base.foundation_text(machine, futex_call) + f"""
; ---- workers -----------------------------------------------------------------------------------

define ptr @ev_worker(ptr %arg) #0 {{
entry:
  %id = ptrtoint ptr %arg to i64
  %id32 = trunc i64 %id to i32
  %offset = mul i64 %id, {THREAD_BYTES}
  %part = getelementptr i8, {at(THREADS)}, i64 %offset
  %selfp = getelementptr i8, ptr %part, i64 {base.SELF}
  %busyp = getelementptr i8, ptr %part, i64 {base.BUSY}
  %me = call i64 @pthread_self()
  store i64 %me, ptr %selfp
  br label %enter
enter:
  %seen = load atomic i32, {at(base.GEN)} acquire, align 4
  %was = atomicrmw xchg ptr %busyp, i32 1 seq_cst
  %open = load atomic i32, {at(base.OPEN)} seq_cst, align 4
  %limit = load atomic i32, {at(base.LIMIT)} monotonic, align 4
  %closed = icmp eq i32 %open, 0
  %surplus = icmp sge i32 %id32, %limit
  %allowed = load atomic i32, {at(base.ALLOWED)} monotonic, align 4
  %beyond = icmp sge i32 %id32, %allowed
  %out = or i1 %surplus, %beyond
  %stay = or i1 %closed, %out
  br i1 %stay, label %leave, label %work
work:
  call void @ev_work(i64 %id)
  br label %leave
leave:
  store atomic i32 0, ptr %busyp release, align 4
  %spins = load i64, {at(base.SPIN)}
  br i1 %surplus, label %rest, label %spin
rest:                             ; more threads than set_num_threads asks for
  call void @ev_wait({at(base.LIMIT)}, i32 %limit)
  br label %enter
spin:
  %i = phi i64 [0, %leave], [%i2, %again], [%spins, %sleep]
  %g = load atomic i32, {at(base.GEN)} acquire, align 4
  %new = icmp ne i32 %g, %seen
  br i1 %new, label %enter, label %again
again:
  {pause_call}
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %spins
  br i1 %more, label %spin, label %sleep
sleep:
  %s0 = atomicrmw add {at(base.SLEEPERS)}, i32 1 seq_cst
  call void @ev_wait({at(base.GEN)}, i32 %seen)
  %s1 = atomicrmw sub {at(base.SLEEPERS)}, i32 1 seq_cst
  br label %spin
}}

; Start workers up to %wanted; what the system refuses is done without.
define internal void @ev_start(i32 %wanted) #1 {{
entry:
  %thread = alloca i64
  %old = alloca [128 x i8], align 8
  %m0 = call i32 @pthread_sigmask(i32 {set_mask}, {at(base.SIGNALS)}, ptr %old)
  %first = load i32, {at(base.STARTED)}
  br label %loop
loop:
  %have = phi i32 [%first, %entry], [%next, %made]
  %more = icmp slt i32 %have, %wanted
  br i1 %more, label %make, label %done
make:
  %next = add i32 %have, 1
  %id = zext i32 %next to i64
  %arg = inttoptr i64 %id to ptr
  %error = call i32 @pthread_create(ptr %thread, ptr null, ptr @ev_worker, ptr %arg)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %done, label %made
made:
  %t = load i64, ptr %thread
  %d = call i32 @pthread_detach(i64 %t)
  store i32 %next, {at(base.STARTED)}
  br label %loop
done:
  %m1 = call i32 @pthread_sigmask(i32 {set_mask}, ptr %old, ptr null)
  ret void
}}

; Take chunks until none is left: first from the thread's own share, then from the others'.
define internal void @ev_work(i64 %tid) #0 {{
entry:
  %shares = load i64, {at(base.SHARES)}
  %table = load ptr, {at(base.SEGMENTS)}
  %count = load i64, {at(base.SEGMENT_COUNT)}
  %one = icmp eq i64 %count, 1
  %begin = urem i64 %tid, %shares
  br label %share
share:
  %k = phi i64 [0, %entry], [%k2, %following]
  %s = phi i64 [%begin, %entry], [%s2, %following]
  %so = mul i64 %s, {THREAD_BYTES}
  %nextp = getelementptr i8, {at(THREADS)}, i64 %so
  %endp = getelementptr i8, ptr %nextp, i64 {base.END}
  %end = load i64, ptr %endp
  br label %take
take:
  %peek = load atomic i64, ptr %nextp monotonic, align 8
  %some = icmp slt i64 %peek, %end
  br i1 %some, label %claim, label %following
claim:
  %c = atomicrmw add ptr %nextp, i64 1 monotonic
  %won = icmp slt i64 %c, %end
  br i1 %won, label %find, label %following
find:
  br i1 %one, label %run, label %search
search:                           ; the last segment whose first chunk is not after c
  %a = phi i64 [0, %find], [%a2, %step]
  %b = phi i64 [%count, %find], [%b2, %step]
  %width = sub i64 %b, %a
  %wide = icmp sgt i64 %width, 1
  br i1 %wide, label %step, label %run
step:
  %half = lshr i64 %width, 1
  %mid = add i64 %a, %half
  %mo = mul i64 %mid, {SEGMENT_BYTES}
  %mp = getelementptr i8, ptr %table, i64 %mo
  %mfp = getelementptr i8, ptr %mp, i64 32
  %mf = load i64, ptr %mfp
  %after = icmp sgt i64 %mf, %c
  %a2 = select i1 %after, i64 %a, i64 %mid
  %b2 = select i1 %after, i64 %mid, i64 %b
  br label %search
run:
  %index = phi i64 [0, %find], [%a, %search]
  %io = mul i64 %index, {SEGMENT_BYTES}
  %seg = getelementptr i8, ptr %table, i64 %io
  %fn = load ptr, ptr %seg
  %pp = getelementptr i8, ptr %seg, i64 8
  %params = load ptr, ptr %pp
  %np = getelementptr i8, ptr %seg, i64 16
  %n = load i64, ptr %np
  %cp = getelementptr i8, ptr %seg, i64 24
  %chunk = load i64, ptr %cp
  %fp = getelementptr i8, ptr %seg, i64 32
  %firstc = load i64, ptr %fp
  %rel = sub i64 %c, %firstc
  %lo = mul i64 %rel, %chunk
  %left = sub i64 %n, %lo
  %short = icmp slt i64 %left, %chunk
  %len = select i1 %short, i64 %left, i64 %chunk
  %hi = add i64 %lo, %len
  call void %fn(ptr %params, i64 %lo, i64 %hi, i64 %tid)
  br label %take
following:
  %k2 = add i64 %k, 1
  %s1 = add i64 %s, 1
  %wrap = icmp eq i64 %s1, %shares
  %s2 = select i1 %wrap, i64 0, i64 %s1
  %again = icmp slt i64 %k2, %shares
  br i1 %again, label %share, label %done
done:
  ret void
}}

; ---- regions -----------------------------------------------------------------------------------

define internal i64 @ev_tid() #1 {{
entry:
  %me = call i64 @pthread_self()
  br label %loop
loop:
  %t = phi i64 [0, %entry], [%t2, %next]
  %o = mul i64 %t, {THREAD_BYTES}
  %p = getelementptr i8, {at(THREADS + base.SELF)}, i64 %o
  %id = load i64, ptr %p
  %same = icmp eq i64 %id, %me
  br i1 %same, label %found, label %next
next:
  %t2 = add i64 %t, 1
  %more = icmp ult i64 %t2, {MAX_THREADS}
  br i1 %more, label %loop, label %none
found:
  ret i64 %t
none:
  ret i64 0
}}

; Run %chunks chunks of the segments with up to %limit threads and wait for them.
define internal void @ev_region(ptr %table, i64 %count, i64 %chunks, i64 %limit) #0 {{
entry:
  %few = icmp slt i64 %chunks, %limit
  %shares = select i1 %few, i64 %chunks, i64 %limit
  %helpers = sub i64 %shares, 1
  %helpers32 = trunc i64 %helpers to i32
  %me = call i64 @pthread_self()
  store i64 %me, {at(THREADS + base.SELF)}
  store i32 1, {at(base.ACTIVE)}
  store ptr %table, {at(base.SEGMENTS)}
  store i64 %count, {at(base.SEGMENT_COUNT)}
  store i64 %shares, {at(base.SHARES)}
  %each = udiv i64 %chunks, %shares
  %rest = urem i64 %chunks, %shares
  br label %deal
deal:                             ; the first %rest shares get one chunk more
  %t = phi i64 [0, %entry], [%t2, %deal]
  %from = phi i64 [0, %entry], [%to, %deal]
  %extra = icmp slt i64 %t, %rest
  %e = zext i1 %extra to i64
  %size = add i64 %each, %e
  %to = add i64 %from, %size
  %o = mul i64 %t, {THREAD_BYTES}
  %nextp = getelementptr i8, {at(THREADS)}, i64 %o
  %endp = getelementptr i8, ptr %nextp, i64 {base.END}
  store atomic i64 %from, ptr %nextp monotonic, align 8
  store i64 %to, ptr %endp
  %t2 = add i64 %t, 1
  %more = icmp slt i64 %t2, %shares
  br i1 %more, label %deal, label %begin
begin:
  store atomic i32 1, {at(base.OPEN)} release, align 4
  %g = atomicrmw add {at(base.GEN)}, i32 1 seq_cst
  %started = load i32, {at(base.STARTED)}
  %missing = icmp slt i32 %started, %helpers32
  br i1 %missing, label %start, label %look
start:
  call void @ev_start(i32 %helpers32)
  br label %look
look:
  %asleep = load atomic i32, {at(base.SLEEPERS)} seq_cst, align 4
  %any = icmp sgt i32 %asleep, 0
  br i1 %any, label %wake, label %work
wake:
  call void @ev_wake({at(base.GEN)}, i32 %helpers32)
  br label %work
work:
  call void @ev_work(i64 0)
  %was = atomicrmw xchg {at(base.OPEN)}, i32 0 seq_cst
  %all = load i32, {at(base.STARTED)}
  %all64 = zext i32 %all to i64
  br label %join
join:
  %w = phi i64 [1, %work], [%w2, %free]
  %left = icmp sle i64 %w, %all64
  br i1 %left, label %ask, label %done
ask:
  %spins = phi i64 [0, %join], [%spins2, %paused], [%spins2, %yield]
  %wo = mul i64 %w, {THREAD_BYTES}
  %busyp = getelementptr i8, {at(THREADS + base.BUSY)}, i64 %wo
  %busy = load atomic i32, ptr %busyp seq_cst, align 4
  %idle = icmp eq i32 %busy, 0
  br i1 %idle, label %free, label %paused0
paused0:
  %spins2 = add i64 %spins, 1
  %limit2 = load i64, {at(base.SPIN)}
  %long = icmp sgt i64 %spins2, %limit2
  br i1 %long, label %yield, label %paused
paused:
  {pause_call}
  br label %ask
yield:                            ; the worker may be waiting for this very processor
  %y = call i32 @sched_yield()
  br label %ask
free:
  %w2 = add i64 %w, 1
  br label %join
done:
  store i32 0, {at(base.ACTIVE)}
  ret void
}}

define void @ev_parallel(ptr %fn, ptr %params, i64 %n, i64 %grain) #0 {{
entry:
  %small = icmp sle i64 %n, %grain
  %limit32 = load atomic i32, {at(base.ALLOWED)} monotonic, align 4
  %limit = zext i32 %limit32 to i64
  %single = icmp ult i64 %limit, 2
  %active = load atomic i32, {at(base.ACTIVE)} monotonic, align 4
  %nested = icmp ne i32 %active, 0
  %p0 = or i1 %small, %single
  %plain = or i1 %p0, %nested
  br i1 %plain, label %serial, label %cut
serial:
  br i1 %nested, label %within, label %call
within:
  %t = call i64 @ev_tid()
  br label %call
call:
  %tid = phi i64 [0, %serial], [%t, %within]
  %empty = icmp sle i64 %n, 0
  br i1 %empty, label %done, label %really
really:
  call void %fn(ptr %params, i64 0, i64 %n, i64 %tid)
  br label %done
cut:
  %n1 = sub i64 %n, 1
  %u0 = udiv i64 %n1, %grain
  %units = add i64 %u0, 1
  %most = mul i64 %limit, {CHUNKS_PER_THREAD}
  %m1 = sub i64 %most, 1
  %up = add i64 %units, %m1
  %each = udiv i64 %up, %most
  %chunk = mul i64 %each, %grain
  %c0 = udiv i64 %n1, %chunk
  %chunks = add i64 %c0, 1
  store ptr %fn, {at(base.SINGLE)}
  store ptr %params, {at(base.SINGLE + 8)}
  store i64 %n, {at(base.SINGLE + 16)}
  store i64 %chunk, {at(base.SINGLE + 24)}
  store i64 0, {at(base.SINGLE + 32)}
  call void @ev_region({at(base.SINGLE)}, i64 1, i64 %chunks, i64 %limit)
  br label %done
done:
  ret void
}}

define void @ev_launch(ptr %fn, ptr %params, i64 %n, i64 %grain) #1 {{
  call void @ev_lock()
  call void @ev_allow(i64 {MAX_THREADS})
  call void @ev_parallel(ptr %fn, ptr %params, i64 %n, i64 %grain)
  call void @ev_unlock()
  ret void
}}

; Steps of 8 words (kind, fn, params, n, grain, ...) that do not depend on each other: one region.
define void @ev_group(ptr %steps, i64 %count) #1 {{
entry:
  %table = alloca [{GROUP_STEPS * SEGMENT_BYTES} x i8], align 64
  %limit32 = load atomic i32, {at(base.ALLOWED)} monotonic, align 4
  %limit = zext i32 %limit32 to i64
  %active = load atomic i32, {at(base.ACTIVE)} monotonic, align 4
  %nested = icmp ne i32 %active, 0
  %most = mul i64 %limit, {CHUNKS_PER_THREAD}
  br label %sum
sum:
  %i = phi i64 [0, %entry], [%i2, %sum]
  %total = phi i64 [0, %entry], [%total2, %sum]
  %o = shl i64 %i, 6
  %np = getelementptr i8, ptr %steps, i64 %o
  %np2 = getelementptr i8, ptr %np, i64 24
  %n = load i64, ptr %np2
  %total2 = add i64 %total, %n
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %count
  br i1 %more, label %sum, label %share
share:
  %g0p = getelementptr i8, ptr %steps, i64 32
  %g0 = load i64, ptr %g0p
  %little = icmp sle i64 %total2, %g0
  %tm = add i64 %total2, %most
  %tm1 = sub i64 %tm, 1
  %target = udiv i64 %tm1, %most
  br label %fill
fill:
  %j = phi i64 [0, %share], [%j2, %filled]
  %used = phi i64 [0, %share], [%used3, %filled]
  %chunks = phi i64 [0, %share], [%chunks3, %filled]
  %jo = shl i64 %j, 6
  %step = getelementptr i8, ptr %steps, i64 %jo
  %fnp = getelementptr i8, ptr %step, i64 8
  %fn = load ptr, ptr %fnp
  %pp = getelementptr i8, ptr %step, i64 16
  %params = load ptr, ptr %pp
  %snp = getelementptr i8, ptr %step, i64 24
  %sn = load i64, ptr %snp
  %gp = getelementptr i8, ptr %step, i64 32
  %grain = load i64, ptr %gp
  %empty = icmp sle i64 %sn, 0
  br i1 %empty, label %filled, label %put
put:
  %tg = add i64 %target, %grain
  %tg1 = sub i64 %tg, 1
  %units = udiv i64 %tg1, %grain
  %chunk = mul i64 %units, %grain
  %sn1 = sub i64 %sn, 1
  %k0 = udiv i64 %sn1, %chunk
  %k = add i64 %k0, 1
  %uo = mul i64 %used, {SEGMENT_BYTES}
  %seg = getelementptr i8, ptr %table, i64 %uo
  store ptr %fn, ptr %seg
  %s1 = getelementptr i8, ptr %seg, i64 8
  store ptr %params, ptr %s1
  %s2 = getelementptr i8, ptr %seg, i64 16
  store i64 %sn, ptr %s2
  %s3 = getelementptr i8, ptr %seg, i64 24
  store i64 %chunk, ptr %s3
  %s4 = getelementptr i8, ptr %seg, i64 32
  store i64 %chunks, ptr %s4
  %used2 = add i64 %used, 1
  %chunks2 = add i64 %chunks, %k
  br label %filled
filled:
  %used3 = phi i64 [%used, %fill], [%used2, %put]
  %chunks3 = phi i64 [%chunks, %fill], [%chunks2, %put]
  %j2 = add i64 %j, 1
  %again = icmp slt i64 %j2, %count
  br i1 %again, label %fill, label %decide
decide:
  %nothing = icmp eq i64 %chunks3, 0
  br i1 %nothing, label %done, label %how
how:
  %single = icmp ult i64 %limit, 2
  %alone = icmp eq i64 %chunks3, 1
  %q0 = or i1 %single, %alone
  %q1 = or i1 %q0, %little
  %plain = or i1 %q1, %nested
  br i1 %plain, label %serial, label %region
serial:
  %x = phi i64 [0, %how], [%x2, %serial]
  %xo = mul i64 %x, {SEGMENT_BYTES}
  %xs = getelementptr i8, ptr %table, i64 %xo
  %xfn = load ptr, ptr %xs
  %xp = getelementptr i8, ptr %xs, i64 8
  %xparams = load ptr, ptr %xp
  %xnp = getelementptr i8, ptr %xs, i64 16
  %xn = load i64, ptr %xnp
  call void @ev_parallel(ptr %xfn, ptr %xparams, i64 %xn, i64 %xn)
  %x2 = add i64 %x, 1
  %xmore = icmp slt i64 %x2, %used3
  br i1 %xmore, label %serial, label %done
region:
  call void @ev_region(ptr %table, i64 %used3, i64 %chunks3, i64 %limit)
  br label %done
done:
  ret void
}}

attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind noinline }}
"""
