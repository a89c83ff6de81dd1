; kernel row width 64
;   %0 = in.v:bool
;   %1 = out.s:bool
;   %2 = all %0 :bool O
;   store %2 -> %1
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather1(ptr, ptr, i64, i64)
declare void @ev_scatter1(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 64, align 64
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = icmp eq i64 %t3, 1
  call void @ev_decode(ptr %params, i64 %lo, ptr %idx, ptr %base, i64 2, i64 11)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%lo, %pre], [%r2, %again]
  %t5 = getelementptr i64, ptr %base, i64 0
  %t6 = load i64, ptr %t5, align 8
  %t7 = getelementptr i64, ptr %base, i64 1
  %t8 = load i64, ptr %t7, align 8
  %t9 = sub i64 %n, 0
  %t10 = add i64 %t9, 63
  %t11 = udiv i64 %t10, 64
  %t12 = or i64 %t11, 1
  %t13 = call i64 @llvm.ctlz.i64(i64 %t12, i1 true)
  %t14 = sub i64 63, %t13
  %t15 = lshr i64 %t14, 2
  br label %rstp19
rstp19:
  br label %rst16
rst16:
  %rst16k = phi i64 [1, %rstp19], [%rst16kn, %rstb17]
  %t20 = icmp ule i64 %rst16k, %t15
  br i1 %t20, label %rstb17, label %rstd18
rstb17:
  %t21 = mul i64 %rst16k, 512
  %t22 = add i64 %t21, 0
  %t23 = getelementptr i8, ptr %lev, i64 %t22
  %t24 = zext <64 x i1> splat (i1 true) to <64 x i8>
  store <64 x i8> %t24, ptr %t23, align 8
  %rst16kn = add i64 %rst16k, 1
  br label %rst16
rstd18:
  br label %ppre25
ppre25:
  br label %phead26
phead26:
  %phead26i = phi i64 [0, %ppre25], [%phead26in, %platch27]
  %phead26a0 = phi <64 x i1> [splat (i1 true), %ppre25], [%t84, %platch27]
  %t29 = add i64 %phead26i, 64
  %t30 = icmp ule i64 %t29, %n
  %t31 = and i1 %t30, %t4
  br i1 %t31, label %dir32, label %slow33
dir32:
  %t35 = mul i64 %phead26i, 1
  %t36 = add i64 %t6, %t35
  %t37 = inttoptr i64 %t36 to ptr
  br label %body34
slow33:
  %t38 = sub i64 %n, %phead26i
  %t39 = icmp ult i64 %t38, 64
  %t40 = select i1 %t39, i64 %t38, i64 64
  %t41 = mul i64 %phead26i, %t3
  %t42 = add i64 %t6, %t41
  %t43 = inttoptr i64 %t42 to ptr
  call void @ev_gather1(ptr %buf0, ptr %t43, i64 %t3, i64 %t40)
  br label %body34
body34:
  %t44 = phi i64 [64, %dir32], [%t40, %slow33]
  %t45 = phi ptr [%t37, %dir32], [%buf0, %slow33]
  %e1_1 = load <64 x i8>, ptr %t45, align 1
  %e1_2 = icmp ne <64 x i8> %e1_1, splat (i8 0)
  br label %lift48
lift48:
  br i1 %t31, label %join47, label %mask46
mask46:
  %t49 = trunc i64 %t44 to i32
  %e2_1 = insertelement <64 x i32> poison, i32 %t49, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %t50 = icmp ult <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>, %e2_2
  %t51 = select <64 x i1> %t50, <64 x i1> %e1_2, <64 x i1> splat (i1 true)
  br label %join47
join47:
  %t52 = phi <64 x i1> [%e1_2, %lift48], [%t51, %mask46]
  %e3_1 = and <64 x i1> %phead26a0, %t52
  br label %platch27p
platch27p:
  %t53 = sub i64 %phead26i, 0
  %t54 = udiv i64 %t53, 64
  %t55 = add i64 %t54, 1
  %t56 = and i64 %t55, 15
  %t57 = icmp eq i64 %t56, 0
  br i1 %t57, label %push58, label %platch27
push58:
  %t59 = lshr i64 %t55, 4
  br label %psp61
psp61:
  br label %psh62
psh62:
  %psh62k = phi i64 [1, %psp61], [%psh62kn, %psm63]
  %psh62c0 = phi <64 x i1> [%e3_1, %psp61], [%e4_1, %psm63]
  %t64 = mul i64 %psh62k, 512
  %t65 = add i64 %t64, 0
  %t66 = getelementptr i8, ptr %lev, i64 %t65
  %t67 = load <64 x i8>, ptr %t66, align 8
  %t68 = trunc <64 x i8> %t67 to <64 x i1>
  %e4_1 = and <64 x i1> %t68, %psh62c0
  %t69 = sub i64 %psh62k, 0
  %t70 = shl i64 %t69, 2
  %t71 = shl i64 1, %t70
  %t72 = sub i64 %t71, 1
  %t73 = and i64 %t59, %t72
  %t74 = icmp eq i64 %t73, 0
  br i1 %t74, label %psm63, label %psk75
psm63:
  %t76 = mul i64 %psh62k, 512
  %t77 = add i64 %t76, 0
  %t78 = getelementptr i8, ptr %lev, i64 %t77
  %t79 = zext <64 x i1> splat (i1 true) to <64 x i8>
  store <64 x i8> %t79, ptr %t78, align 8
  %psh62kn = add i64 %psh62k, 1
  br label %psh62
psk75:
  %t80 = mul i64 %psh62k, 512
  %t81 = add i64 %t80, 0
  %t82 = getelementptr i8, ptr %lev, i64 %t81
  %t83 = zext <64 x i1> %e4_1 to <64 x i8>
  store <64 x i8> %t83, ptr %t82, align 8
  br label %pushed60
pushed60:
  br label %platch27
platch27:
  %t84 = phi <64 x i1> [%e3_1, %platch27p], [splat (i1 true), %pushed60]
  %phead26in = add i64 %phead26i, 64
  %t85 = icmp ult i64 %phead26in, %n
  br i1 %t85, label %phead26, label %pdone28
pdone28:
  br label %fdp86
fdp86:
  br label %fdh87
fdh87:
  %fdh87k = phi i64 [1, %fdp86], [%fdh87kn, %fdb88]
  %fdh87c0 = phi <64 x i1> [%t84, %fdp86], [%e5_1, %fdb88]
  %t90 = icmp ule i64 %fdh87k, %t15
  br i1 %t90, label %fdb88, label %fdd89
fdb88:
  %t91 = mul i64 %fdh87k, 512
  %t92 = add i64 %t91, 0
  %t93 = getelementptr i8, ptr %lev, i64 %t92
  %t94 = load <64 x i8>, ptr %t93, align 8
  %t95 = trunc <64 x i8> %t94 to <64 x i1>
  %e5_1 = and <64 x i1> %t95, %fdh87c0
  %fdh87kn = add i64 %fdh87k, 1
  br label %fdh87
fdd89:
  %t96 = shufflevector <64 x i1> %fdh87c0, <64 x i1> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t97 = shufflevector <64 x i1> %fdh87c0, <64 x i1> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %e6_1 = and <32 x i1> %t96, %t97
  %t98 = shufflevector <32 x i1> %e6_1, <32 x i1> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t99 = shufflevector <32 x i1> %e6_1, <32 x i1> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e7_1 = and <16 x i1> %t98, %t99
  %t100 = shufflevector <16 x i1> %e7_1, <16 x i1> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t101 = shufflevector <16 x i1> %e7_1, <16 x i1> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %e8_1 = and <8 x i1> %t100, %t101
  %t102 = shufflevector <8 x i1> %e8_1, <8 x i1> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t103 = shufflevector <8 x i1> %e8_1, <8 x i1> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %e9_1 = and <4 x i1> %t102, %t103
  %t104 = shufflevector <4 x i1> %e9_1, <4 x i1> poison, <2 x i32> <i32 0, i32 1>
  %t105 = shufflevector <4 x i1> %e9_1, <4 x i1> poison, <2 x i32> <i32 2, i32 3>
  %e10_1 = and <2 x i1> %t104, %t105
  %t106 = extractelement <2 x i1> %e10_1, i64 0
  %t107 = extractelement <2 x i1> %e10_1, i64 1
  %e11_1 = and i1 %t106, %t107
  %t108 = inttoptr i64 %t8 to ptr
  %e14_1 = zext i1 %e11_1 to i8
  store i8 %e14_1, ptr %t108, align 1
  br label %next
next:
  %r2 = add i64 %r, 1
  %t109 = icmp uge i64 %r2, %hi
  br i1 %t109, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 11)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
