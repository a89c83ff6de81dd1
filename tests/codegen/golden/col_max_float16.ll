; kernel col width 64
;   %0 = in.v:float16
;   %1 = out.v:float16
;   %2 = max %0 :float16 O
;   store %2 -> %1
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather2(ptr, ptr, i64, i64)
declare void @ev_scatter2(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 128, align 64
  %buf1 = alloca i8, i64 128, align 64
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = getelementptr i64, ptr %params, i64 10
  %t5 = load i64, ptr %t4, align 8
  %t6 = icmp eq i64 %t3, 2
  %t7 = icmp eq i64 %t5, 2
  %t8 = and i1 %t6, %t7
  %t9 = getelementptr i64, ptr %params, i64 5
  %t10 = load i64, ptr %t9, align 8
  %t11 = getelementptr i64, ptr %params, i64 2
  %t12 = load i64, ptr %t11, align 8
  %t13 = getelementptr i64, ptr %params, i64 11
  %t14 = load i64, ptr %t13, align 8
  %t15 = or i64 %t12, 1
  %t16 = call i64 @llvm.ctlz.i64(i64 %t15, i1 true)
  %t17 = sub i64 63, %t16
  %t18 = lshr i64 %t17, 2
  %t19 = udiv i64 %lo, %t10
  %t20 = mul i64 %t19, %t10
  %t21 = sub i64 %lo, %t20
  call void @ev_decode(ptr %params, i64 %t19, ptr %idx, ptr %base, i64 2, i64 13)
  br label %pre
pre:
  br label %unit
unit:
  %u = phi i64 [%lo, %pre], [%u2, %again]
  %strip = phi i64 [%t21, %pre], [%strip2, %again]
  %t22 = mul i64 %strip, 64
  %t23 = getelementptr i64, ptr %base, i64 0
  %t24 = load i64, ptr %t23, align 8
  %t25 = getelementptr i64, ptr %base, i64 1
  %t26 = load i64, ptr %t25, align 8
  br label %rstp30
rstp30:
  br label %rst27
rst27:
  %rst27k = phi i64 [1, %rstp30], [%rst27kn, %rstb28]
  %t31 = icmp ule i64 %rst27k, %t18
  br i1 %t31, label %rstb28, label %rstd29
rstb28:
  %t32 = mul i64 %rst27k, 512
  %t33 = add i64 %t32, 0
  %t34 = getelementptr i8, ptr %lev, i64 %t33
  store <64 x float> splat (float 0xFFF0000000000000), ptr %t34, align 8
  %rst27kn = add i64 %rst27k, 1
  br label %rst27
rstd29:
  br label %kpre
kpre:
  br label %khead
khead:
  %k = phi i64 [0, %kpre], [%k2, %klatch]
  %kacc0 = phi <64 x float> [splat (float 0xFFF0000000000000), %kpre], [%t77, %klatch]
  %t35 = mul i64 %k, %t14
  %t36 = add i64 %t24, %t35
  %t37 = add i64 %t22, 64
  %t38 = icmp ule i64 %t37, %n
  %t39 = and i1 %t38, %t8
  br i1 %t39, label %dir40, label %slow41
dir40:
  %t43 = mul i64 %t22, 2
  %t44 = add i64 %t36, %t43
  %t45 = inttoptr i64 %t44 to ptr
  br label %body42
slow41:
  %t46 = sub i64 %n, %t22
  %t47 = icmp ult i64 %t46, 64
  %t48 = select i1 %t47, i64 %t46, i64 64
  %t49 = mul i64 %t22, %t3
  %t50 = add i64 %t36, %t49
  %t51 = inttoptr i64 %t50 to ptr
  call void @ev_gather2(ptr %buf0, ptr %t51, i64 %t3, i64 %t48)
  br label %body42
body42:
  %t52 = phi i64 [64, %dir40], [%t48, %slow41]
  %t53 = phi ptr [%t45, %dir40], [%buf0, %slow41]
  %e1_1 = load <64 x half>, ptr %t53, align 2
  %e1_2 = fpext <64 x half> %e1_1 to <64 x float>
  %e3_1 = fcmp une <64 x float> %kacc0, %kacc0
  %e3_2 = fcmp ogt <64 x float> %kacc0, %e1_2
  %e3_3 = select <64 x i1> %e3_2, <64 x float> %kacc0, <64 x float> %e1_2
  %e3_4 = select <64 x i1> %e3_1, <64 x float> %kacc0, <64 x float> %e3_3
  %k2 = add i64 %k, 1
  %t54 = and i64 %k2, 15
  %t55 = icmp eq i64 %t54, 0
  br label %ktest
ktest:
  br i1 %t55, label %kpush, label %klatch
kpush:
  %t56 = lshr i64 %k2, 4
  br label %psp57
psp57:
  br label %psh58
psh58:
  %psh58k = phi i64 [1, %psp57], [%psh58kn, %psm59]
  %psh58c0 = phi <64 x float> [%e3_4, %psp57], [%e4_4, %psm59]
  %t60 = mul i64 %psh58k, 512
  %t61 = add i64 %t60, 0
  %t62 = getelementptr i8, ptr %lev, i64 %t61
  %t63 = load <64 x float>, ptr %t62, align 8
  %e4_1 = fcmp une <64 x float> %t63, %t63
  %e4_2 = fcmp ogt <64 x float> %t63, %psh58c0
  %e4_3 = select <64 x i1> %e4_2, <64 x float> %t63, <64 x float> %psh58c0
  %e4_4 = select <64 x i1> %e4_1, <64 x float> %t63, <64 x float> %e4_3
  %t64 = sub i64 %psh58k, 0
  %t65 = shl i64 %t64, 2
  %t66 = shl i64 1, %t65
  %t67 = sub i64 %t66, 1
  %t68 = and i64 %t56, %t67
  %t69 = icmp eq i64 %t68, 0
  br i1 %t69, label %psm59, label %psk70
psm59:
  %t71 = mul i64 %psh58k, 512
  %t72 = add i64 %t71, 0
  %t73 = getelementptr i8, ptr %lev, i64 %t72
  store <64 x float> splat (float 0xFFF0000000000000), ptr %t73, align 8
  %psh58kn = add i64 %psh58k, 1
  br label %psh58
psk70:
  %t74 = mul i64 %psh58k, 512
  %t75 = add i64 %t74, 0
  %t76 = getelementptr i8, ptr %lev, i64 %t75
  store <64 x float> %e4_4, ptr %t76, align 8
  br label %kpushed
kpushed:
  br label %klatch
klatch:
  %t77 = phi <64 x float> [%e3_4, %ktest], [splat (float 0xFFF0000000000000), %kpushed]
  %t78 = icmp ult i64 %k2, %t12
  br i1 %t78, label %khead, label %kdone
kdone:
  br label %fdp79
fdp79:
  br label %fdh80
fdh80:
  %fdh80k = phi i64 [1, %fdp79], [%fdh80kn, %fdb81]
  %fdh80c0 = phi <64 x float> [%t77, %fdp79], [%e5_4, %fdb81]
  %t83 = icmp ule i64 %fdh80k, %t18
  br i1 %t83, label %fdb81, label %fdd82
fdb81:
  %t84 = mul i64 %fdh80k, 512
  %t85 = add i64 %t84, 0
  %t86 = getelementptr i8, ptr %lev, i64 %t85
  %t87 = load <64 x float>, ptr %t86, align 8
  %e5_1 = fcmp une <64 x float> %t87, %t87
  %e5_2 = fcmp ogt <64 x float> %t87, %fdh80c0
  %e5_3 = select <64 x i1> %e5_2, <64 x float> %t87, <64 x float> %fdh80c0
  %e5_4 = select <64 x i1> %e5_1, <64 x float> %t87, <64 x float> %e5_3
  %fdh80kn = add i64 %fdh80k, 1
  br label %fdh80
fdd82:
  %e7_1 = fptrunc <64 x float> %fdh80c0 to <64 x half>
  %e7_2 = fpext <64 x half> %e7_1 to <64 x float>
  %t88 = add i64 %t22, 64
  %t89 = icmp ule i64 %t88, %n
  %t90 = and i1 %t89, %t8
  br i1 %t90, label %dir91, label %slow92
dir91:
  %t94 = mul i64 %t22, 2
  %t95 = add i64 %t26, %t94
  %t96 = inttoptr i64 %t95 to ptr
  br label %body93
slow92:
  %t97 = sub i64 %n, %t22
  %t98 = icmp ult i64 %t97, 64
  %t99 = select i1 %t98, i64 %t97, i64 64
  br label %body93
body93:
  %t100 = phi i64 [64, %dir91], [%t99, %slow92]
  %t101 = phi ptr [%t96, %dir91], [%buf1, %slow92]
  %e8_1 = fcmp une <64 x float> %e7_2, %e7_2
  %e8_2 = bitcast <64 x float> %e7_2 to <64 x i32>
  %e8_3 = lshr <64 x i32> %e8_2, splat (i32 16)
  %e8_4 = and <64 x i32> %e8_3, splat (i32 32768)
  %e8_5 = or <64 x i32> %e8_4, splat (i32 31744)
  %e8_6 = lshr <64 x i32> %e8_2, splat (i32 13)
  %e8_7 = and <64 x i32> %e8_6, splat (i32 1023)
  %e8_8 = or <64 x i32> %e8_5, %e8_7
  %e8_9 = trunc <64 x i32> %e8_8 to <64 x i16>
  %e8_10 = fptrunc <64 x float> %e7_2 to <64 x half>
  %e8_11 = bitcast <64 x half> %e8_10 to <64 x i16>
  %e8_12 = select <64 x i1> %e8_1, <64 x i16> %e8_9, <64 x i16> %e8_11
  %e8_13 = bitcast <64 x i16> %e8_12 to <64 x half>
  store <64 x half> %e8_13, ptr %t101, align 2
  br i1 %t90, label %next, label %back102
back102:
  %t103 = mul i64 %t22, %t5
  %t104 = add i64 %t26, %t103
  %t105 = inttoptr i64 %t104 to ptr
  call void @ev_scatter2(ptr %buf1, ptr %t105, i64 %t5, i64 %t100)
  br label %next
next:
  %u2 = add i64 %u, 1
  %t106 = icmp ult i64 %u2, %hi
  br i1 %t106, label %step, label %done
step:
  %strip1 = add i64 %strip, 1
  %t107 = icmp uge i64 %strip1, %t10
  br i1 %t107, label %move, label %stay
move:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 13)
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
