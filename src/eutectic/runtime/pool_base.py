"""The foundation of the thread pool as LLVM text: its state, sleeping and waking, and the lock."""

from __future__ import annotations

MAX_THREADS = 64

# Byte offsets into the state. What the caller writes, what the workers write and what belongs to
# one thread lie on different cache lines; a thread's two lines are 128 bytes from its neighbour's.
GEN, OPEN, SEGMENTS, SEGMENT_COUNT, SHARES = 0, 4, 8, 16, 24
SINGLE = 64  # the segment of a region of one kernel
MUTEX, EXIT_OWNER, ACTIVE, LIMIT, STARTED = 128, 136, 144, 148, 152
CLOSING, SPIN, KEPT, ALLOWED = 156, 160, 168, 172
SLEEPERS = 192
SIGNALS, PTHREAD_MUTEX, PTHREAD_COND = 256, 384, 448
THREADS, THREAD_BYTES = 512, 128
NEXT, END, SELF, BUSY = 0, 8, 64, 72  # within a thread's part
STATE_BYTES = THREADS + MAX_THREADS * THREAD_BYTES
SEGMENT_BYTES = 40  # fn, params, n, chunk, number of its first chunk


def at(offset: int) -> str:
    """A pointer operand into the state."""
    return f"ptr getelementptr (i8, ptr @ev_state, i64 {offset})"


def pause(machine: str) -> tuple[str, str]:
    """Declaration and call of the machine's hint that a thread spins."""
    if machine == "x86_64":
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if machine in ("aarch64", "arm64"):  # isb waits longer than yield, which most cores ignore
        return "declare void @llvm.aarch64.isb(i32)", "call void @llvm.aarch64.isb(i32 15)"
    return "", "fence seq_cst"


FUTEX_CALLS = {"x86_64": 202, "aarch64": 98}


def _waiting(futex_call: int | None) -> str:
    """`ev_wait(word, value)` sleeps while word holds value; `ev_wake(word, count)` ends that."""
    if futex_call is not None:  # 128 and 129: FUTEX_WAIT and FUTEX_WAKE, private to the process
        return f"""
declare i64 @syscall(i64, ...)
define internal void @ev_wait(ptr %word, i32 %value) #1 {{
  %r = call i64 (i64, ...) @syscall(i64 {futex_call}, ptr %word, i32 128, i32 %value, ptr null,
                                    ptr null, i32 0)
  ret void
}}
define internal void @ev_wake(ptr %word, i32 %count) #1 {{
  %r = call i64 (i64, ...) @syscall(i64 {futex_call}, ptr %word, i32 129, i32 %count, ptr null,
                                    ptr null, i32 0)
  ret void
}}
define internal void @ev_init_waiting() #1 {{
  ret void
}}"""
    mutex, cond = at(PTHREAD_MUTEX), at(PTHREAD_COND)
    return f"""
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
define internal void @ev_wait(ptr %word, i32 %value) #1 {{
entry:
  %l = call i32 @pthread_mutex_lock({mutex})
  br label %check
check:
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %value
  br i1 %same, label %sleep, label %done
sleep:
  %w = call i32 @pthread_cond_wait({cond}, {mutex})
  br label %check
done:
  %u = call i32 @pthread_mutex_unlock({mutex})
  ret void
}}
define internal void @ev_wake(ptr %word, i32 %count) #1 {{
  %l = call i32 @pthread_mutex_lock({mutex})
  %b = call i32 @pthread_cond_broadcast({cond})
  %u = call i32 @pthread_mutex_unlock({mutex})
  ret void
}}
define internal void @ev_init_waiting() #1 {{
  %m = call i32 @pthread_mutex_init({mutex}, ptr null)
  %c = call i32 @pthread_cond_init({cond}, ptr null)
  ret void
}}"""


def foundation_text(machine: str, futex_call: int | None) -> str:
    """State, lock and waiting as LLVM text; without a futex a condition variable is slept on."""
    declare_pause, pause_call = pause(machine)
    return f"""
@ev_state = internal global [{STATE_BYTES} x i8] zeroinitializer, align 128
{declare_pause}
declare i64 @pthread_self()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_yield()
{_waiting(futex_call)}

define ptr @ev_state_address() #1 {{
  ret ptr @ev_state
}}

; Forget threads, lock and regions: at the start, and in the child of a fork.
define void @ev_reset() #1 {{
  store i32 0, {at(OPEN)}
  store i32 0, {at(MUTEX)}
  store i64 0, {at(EXIT_OWNER)}
  store i32 0, {at(CLOSING)}
  store i32 0, {at(KEPT)}
  store i32 0, {at(ACTIVE)}
  store i32 0, {at(STARTED)}
  store i32 0, {at(SLEEPERS)}
  call void @llvm.memset.p0.i64({at(THREADS)}, i8 0, i64 {MAX_THREADS * THREAD_BYTES}, i1 false)
  call void @ev_init_waiting()
  ret void
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @ev_spin(i64 %count) #1 {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %loop]
  {pause_call}
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}

; ---- the lock: 0 free, 1 held, 2 held and waited for -------------------------------------------

define i32 @ev_trylock() #0 {{
entry:
  %closing = load atomic i32, {at(CLOSING)} acquire, align 4
  %open = icmp eq i32 %closing, 0
  br i1 %open, label %try, label %ask
ask:                              ; only the thread that ends the interpreter may still begin
  %owner = load i64, {at(EXIT_OWNER)}
  %me = call i64 @pthread_self()
  %mine = icmp eq i64 %owner, %me
  br i1 %mine, label %check, label %no
check:
  %kept = load i32, {at(KEPT)}
  %held = icmp ne i32 %kept, 0
  br i1 %held, label %got, label %try
try:
  %x = cmpxchg {at(MUTEX)}, i32 0, i32 1 acquire monotonic
  %ok = extractvalue {{i32, i1}} %x, 1
  br i1 %ok, label %got, label %no
got:
  ret i32 1
no:
  ret i32 0
}}

define void @ev_lock() #0 {{
entry:
  br label %spin
spin:
  %i = phi i32 [0, %entry], [%i2, %again]
  %ok = call i32 @ev_trylock()
  %got = icmp ne i32 %ok, 0
  br i1 %got, label %done, label %again
again:
  {pause_call}
  %i2 = add i32 %i, 1
  %more = icmp ult i32 %i2, 100
  br i1 %more, label %spin, label %queue
queue:
  %closing = load atomic i32, {at(CLOSING)} acquire, align 4
  %open = icmp eq i32 %closing, 0
  br i1 %open, label %take, label %ask
ask:
  %owner = load i64, {at(EXIT_OWNER)}
  %me = call i64 @pthread_self()
  %mine = icmp eq i64 %owner, %me
  br i1 %mine, label %take, label %ever
ever:                             ; until the process ends
  call void @ev_wait({at(CLOSING)}, i32 1)
  br label %ever
take:
  %old = atomicrmw xchg {at(MUTEX)}, i32 2 acquire
  %free = icmp eq i32 %old, 0
  br i1 %free, label %done, label %sleep
sleep:
  call void @ev_wait({at(MUTEX)}, i32 2)
  br label %queue
done:
  ret void
}}

define void @ev_unlock() #0 {{
entry:
  %kept = load i32, {at(KEPT)}
  %keep = icmp ne i32 %kept, 0
  br i1 %keep, label %done, label %open
open:
  %old = atomicrmw xchg {at(MUTEX)}, i32 0 release
  %waited = icmp eq i32 %old, 2
  br i1 %waited, label %wake, label %done
wake:
  call void @ev_wake({at(MUTEX)}, i32 1)
  br label %done
done:
  ret void
}}

; The thread that ends the interpreter first bars all others from beginning, then takes the lock
; and keeps it: its own later calls pass.
define void @ev_close() #1 {{
  %me = call i64 @pthread_self()
  store i64 %me, {at(EXIT_OWNER)}
  store atomic i32 1, {at(CLOSING)} release, align 4
  ret void
}}

define void @ev_keep_lock() #1 {{
  store i32 1, {at(KEPT)}
  ret void
}}

; Threads for the regions that follow: no more than their scratch memory was planned for. The caller
; holds the lock.
define void @ev_allow(i64 %threads) #0 {{
  %limit32 = load atomic i32, {at(LIMIT)} monotonic, align 4
  %limit = zext i32 %limit32 to i64
  %fewer = icmp ult i64 %threads, %limit
  %allowed = select i1 %fewer, i64 %threads, i64 %limit
  %allowed32 = trunc i64 %allowed to i32
  store atomic i32 %allowed32, {at(ALLOWED)} monotonic, align 4
  ret void
}}

define void @ev_set_limit(i32 %limit) #1 {{
  call void @ev_lock()
  store atomic i32 %limit, {at(LIMIT)} seq_cst, align 4
  call void @ev_wake({at(LIMIT)}, i32 {MAX_THREADS})
  call void @ev_unlock()
  ret void
}}
"""
