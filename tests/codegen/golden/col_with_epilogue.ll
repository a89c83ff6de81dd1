; kernel col width 64
;   %0 = in.v:float32
;   %1 = out.v:float32
;   %2 = scalar:float32
;   %3 = multiply %0 %0 :float32 F
;   %4 = sum %3 :float32 O
;   %5 = add %4 %2 :float32 O
;   store %5 -> %1
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 256, align 64
  %buf1 = alloca i8, i64 256, align 64
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = bitcast i32 %t4 to float
  %t6 = getelementptr i64, ptr %params, i64 10
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 11
  %t9 = load i64, ptr %t8, align 8
  %t10 = icmp eq i64 %t7, 4
  %t11 = icmp eq i64 %t9, 4
  %t12 = and i1 %t10, %t11
  %t13 = getelementptr i64, ptr %params, i64 5
  %t14 = load i64, ptr %t13, align 8
  %t15 = getelementptr i64, ptr %params, i64 2
  %t16 = load i64, ptr %t15, align 8
  %t17 = getelementptr i64, ptr %params, i64 12
  %t18 = load i64, ptr %t17, align 8
  %t19 = or i64 %t16, 1
  %t20 = call i64 @llvm.ctlz.i64(i64 %t19, i1 true)
  %t21 = sub i64 63, %t20
  %t22 = lshr i64 %t21, 2
  %t23 = udiv i64 %lo, %t14
  %t24 = mul i64 %t23, %t14
  %t25 = sub i64 %lo, %t24
  call void @ev_decode(ptr %params, i64 %t23, ptr %idx, ptr %base, i64 2, i64 14)
  br label %pre
pre:
  br label %unit
unit:
  %u = phi i64 [%lo, %pre], [%u2, %again]
  %strip = phi i64 [%t25, %pre], [%strip2, %again]
  %t26 = mul i64 %strip, 64
  %t27 = getelementptr i64, ptr %base, i64 0
  %t28 = load i64, ptr %t27, align 8
  %t29 = getelementptr i64, ptr %base, i64 1
  %t30 = load i64, ptr %t29, align 8
  br label %rstp34
rstp34:
  br label %rst31
rst31:
  %rst31k = phi i64 [1, %rstp34], [%rst31kn, %rstb32]
  %t35 = icmp ule i64 %rst31k, %t22
  br i1 %t35, label %rstb32, label %rstd33
rstb32:
  %t36 = mul i64 %rst31k, 512
  %t37 = add i64 %t36, 0
  %t38 = getelementptr i8, ptr %lev, i64 %t37
  store <64 x float> splat (float 0x8000000000000000), ptr %t38, align 8
  %rst31kn = add i64 %rst31k, 1
  br label %rst31
rstd33:
  br label %kpre
kpre:
  br label %khead
khead:
  %k = phi i64 [0, %kpre], [%k2, %klatch]
  %kacc0 = phi <64 x float> [splat (float 0x8000000000000000), %kpre], [%t81, %klatch]
  %t39 = mul i64 %k, %t18
  %t40 = add i64 %t28, %t39
  %t41 = add i64 %t26, 64
  %t42 = icmp ule i64 %t41, %n
  %t43 = and i1 %t42, %t12
  br i1 %t43, label %dir44, label %slow45
dir44:
  %t47 = mul i64 %t26, 4
  %t48 = add i64 %t40, %t47
  %t49 = inttoptr i64 %t48 to ptr
  br label %body46
slow45:
  %t50 = sub i64 %n, %t26
  %t51 = icmp ult i64 %t50, 64
  %t52 = select i1 %t51, i64 %t50, i64 64
  %t53 = mul i64 %t26, %t7
  %t54 = add i64 %t40, %t53
  %t55 = inttoptr i64 %t54 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t55, i64 %t7, i64 %t52)
  br label %body46
body46:
  %t56 = phi i64 [64, %dir44], [%t52, %slow45]
  %t57 = phi ptr [%t49, %dir44], [%buf0, %slow45]
  %e2_1 = load <64 x float>, ptr %t57, align 4
  %e3_1 = insertelement <64 x float> poison, float %t5, i64 0
  %e3_2 = shufflevector <64 x float> %e3_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e2_2 = fmul <64 x float> %e2_1, %e2_1
  %e5_1 = fadd <64 x float> %kacc0, %e2_2
  %k2 = add i64 %k, 1
  %t58 = and i64 %k2, 15
  %t59 = icmp eq i64 %t58, 0
  br label %ktest
ktest:
  br i1 %t59, label %kpush, label %klatch
kpush:
  %t60 = lshr i64 %k2, 4
  br label %psp61
psp61:
  br label %psh62
psh62:
  %psh62k = phi i64 [1, %psp61], [%psh62kn, %psm63]
  %psh62c0 = phi <64 x float> [%e5_1, %psp61], [%e6_1, %psm63]
  %t64 = mul i64 %psh62k, 512
  %t65 = add i64 %t64, 0
  %t66 = getelementptr i8, ptr %lev, i64 %t65
  %t67 = load <64 x float>, ptr %t66, align 8
  %e6_1 = fadd <64 x float> %t67, %psh62c0
  %t68 = sub i64 %psh62k, 0
  %t69 = shl i64 %t68, 2
  %t70 = shl i64 1, %t69
  %t71 = sub i64 %t70, 1
  %t72 = and i64 %t60, %t71
  %t73 = icmp eq i64 %t72, 0
  br i1 %t73, label %psm63, label %psk74
psm63:
  %t75 = mul i64 %psh62k, 512
  %t76 = add i64 %t75, 0
  %t77 = getelementptr i8, ptr %lev, i64 %t76
  store <64 x float> splat (float 0x8000000000000000), ptr %t77, align 8
  %psh62kn = add i64 %psh62k, 1
  br label %psh62
psk74:
  %t78 = mul i64 %psh62k, 512
  %t79 = add i64 %t78, 0
  %t80 = getelementptr i8, ptr %lev, i64 %t79
  store <64 x float> %e6_1, ptr %t80, align 8
  br label %kpushed
kpushed:
  br label %klatch
klatch:
  %t81 = phi <64 x float> [%e5_1, %ktest], [splat (float 0x8000000000000000), %kpushed]
  %t82 = icmp ult i64 %k2, %t16
  br i1 %t82, label %khead, label %kdone
kdone:
  br label %fdp83
fdp83:
  br label %fdh84
fdh84:
  %fdh84k = phi i64 [1, %fdp83], [%fdh84kn, %fdb85]
  %fdh84c0 = phi <64 x float> [%t81, %fdp83], [%e7_1, %fdb85]
  %t87 = icmp ule i64 %fdh84k, %t22
  br i1 %t87, label %fdb85, label %fdd86
fdb85:
  %t88 = mul i64 %fdh84k, 512
  %t89 = add i64 %t88, 0
  %t90 = getelementptr i8, ptr %lev, i64 %t89
  %t91 = load <64 x float>, ptr %t90, align 8
  %e7_1 = fadd <64 x float> %t91, %fdh84c0
  %fdh84kn = add i64 %fdh84k, 1
  br label %fdh84
fdd86:
  %e10_1 = fadd <64 x float> %fdh84c0, %e3_2
  %t92 = add i64 %t26, 64
  %t93 = icmp ule i64 %t92, %n
  %t94 = and i1 %t93, %t12
  br i1 %t94, label %dir95, label %slow96
dir95:
  %t98 = mul i64 %t26, 4
  %t99 = add i64 %t30, %t98
  %t100 = inttoptr i64 %t99 to ptr
  br label %body97
slow96:
  %t101 = sub i64 %n, %t26
  %t102 = icmp ult i64 %t101, 64
  %t103 = select i1 %t102, i64 %t101, i64 64
  br label %body97
body97:
  %t104 = phi i64 [64, %dir95], [%t103, %slow96]
  %t105 = phi ptr [%t100, %dir95], [%buf1, %slow96]
  store <64 x float> %e10_1, ptr %t105, align 4
  br i1 %t94, label %next, label %back106
back106:
  %t107 = mul i64 %t26, %t9
  %t108 = add i64 %t30, %t107
  %t109 = inttoptr i64 %t108 to ptr
  call void @ev_scatter4(ptr %buf1, ptr %t109, i64 %t9, i64 %t104)
  br label %next
next:
  %u2 = add i64 %u, 1
  %t110 = icmp ult i64 %u2, %hi
  br i1 %t110, label %step, label %done
step:
  %strip1 = add i64 %strip, 1
  %t111 = icmp uge i64 %strip1, %t14
  br i1 %t111, label %move, label %stay
move:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 14)
  br label %again
stay:
  br label %again
again:
  %strip2 = phi i64 [0, %move], [%strip1, %stay]
  br label %unit
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
