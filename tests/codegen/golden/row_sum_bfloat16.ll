; kernel row width 64
;   %0 = in.v:bfloat16
;   %1 = out.s:bfloat16
;   %2 = sum %0 :bfloat16 O
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
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = icmp eq i64 %t3, 2
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
  store <64 x float> splat (float 0x8000000000000000), ptr %t23, align 8
  %rst16kn = add i64 %rst16k, 1
  br label %rst16
rstd18:
  br label %ppre24
ppre24:
  br label %phead25
phead25:
  %phead25i = phi i64 [0, %ppre24], [%phead25in, %platch26]
  %phead25a0 = phi <64 x float> [splat (float 0x8000000000000000), %ppre24], [%t80, %platch26]
  %t28 = add i64 %phead25i, 64
  %t29 = icmp ule i64 %t28, %n
  %t30 = and i1 %t29, %t4
  br i1 %t30, label %dir31, label %slow32
dir31:
  %t34 = mul i64 %phead25i, 2
  %t35 = add i64 %t6, %t34
  %t36 = inttoptr i64 %t35 to ptr
  br label %body33
slow32:
  %t37 = sub i64 %n, %phead25i
  %t38 = icmp ult i64 %t37, 64
  %t39 = select i1 %t38, i64 %t37, i64 64
  %t40 = mul i64 %phead25i, %t3
  %t41 = add i64 %t6, %t40
  %t42 = inttoptr i64 %t41 to ptr
  call void @ev_gather2(ptr %buf0, ptr %t42, i64 %t3, i64 %t39)
  br label %body33
body33:
  %t43 = phi i64 [64, %dir31], [%t39, %slow32]
  %t44 = phi ptr [%t36, %dir31], [%buf0, %slow32]
  %e1_1 = load <64 x i16>, ptr %t44, align 2
  %e1_2 = zext <64 x i16> %e1_1 to <64 x i32>
  %e1_3 = shl <64 x i32> %e1_2, splat (i32 16)
  %e1_4 = bitcast <64 x i32> %e1_3 to <64 x float>
  br label %lift47
lift47:
  br i1 %t30, label %join46, label %mask45
mask45:
  %t48 = trunc i64 %t43 to i32
  %e2_1 = insertelement <64 x i32> poison, i32 %t48, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %t49 = icmp ult <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>, %e2_2
  %t50 = select <64 x i1> %t49, <64 x float> %e1_4, <64 x float> splat (float 0x8000000000000000)
  br label %join46
join46:
  %t51 = phi <64 x float> [%e1_4, %lift47], [%t50, %mask45]
  %e3_1 = fadd <64 x float> %phead25a0, %t51
  br label %platch26p
platch26p:
  %t52 = sub i64 %phead25i, 0
  %t53 = udiv i64 %t52, 64
  %t54 = add i64 %t53, 1
  %t55 = and i64 %t54, 15
  %t56 = icmp eq i64 %t55, 0
  br i1 %t56, label %push57, label %platch26
push57:
  %t58 = lshr i64 %t54, 4
  br label %psp60
psp60:
  br label %psh61
psh61:
  %psh61k = phi i64 [1, %psp60], [%psh61kn, %psm62]
  %psh61c0 = phi <64 x float> [%e3_1, %psp60], [%e4_1, %psm62]
  %t63 = mul i64 %psh61k, 512
  %t64 = add i64 %t63, 0
  %t65 = getelementptr i8, ptr %lev, i64 %t64
  %t66 = load <64 x float>, ptr %t65, align 8
  %e4_1 = fadd <64 x float> %t66, %psh61c0
  %t67 = sub i64 %psh61k, 0
  %t68 = shl i64 %t67, 2
  %t69 = shl i64 1, %t68
  %t70 = sub i64 %t69, 1
  %t71 = and i64 %t58, %t70
  %t72 = icmp eq i64 %t71, 0
  br i1 %t72, label %psm62, label %psk73
psm62:
  %t74 = mul i64 %psh61k, 512
  %t75 = add i64 %t74, 0
  %t76 = getelementptr i8, ptr %lev, i64 %t75
  store <64 x float> splat (float 0x8000000000000000), ptr %t76, align 8
  %psh61kn = add i64 %psh61k, 1
  br label %psh61
psk73:
  %t77 = mul i64 %psh61k, 512
  %t78 = add i64 %t77, 0
  %t79 = getelementptr i8, ptr %lev, i64 %t78
  store <64 x float> %e4_1, ptr %t79, align 8
  br label %pushed59
pushed59:
  br label %platch26
platch26:
  %t80 = phi <64 x float> [%e3_1, %platch26p], [splat (float 0x8000000000000000), %pushed59]
  %phead25in = add i64 %phead25i, 64
  %t81 = icmp ult i64 %phead25in, %n
  br i1 %t81, label %phead25, label %pdone27
pdone27:
  br label %fdp82
fdp82:
  br label %fdh83
fdh83:
  %fdh83k = phi i64 [1, %fdp82], [%fdh83kn, %fdb84]
  %fdh83c0 = phi <64 x float> [%t80, %fdp82], [%e5_1, %fdb84]
  %t86 = icmp ule i64 %fdh83k, %t15
  br i1 %t86, label %fdb84, label %fdd85
fdb84:
  %t87 = mul i64 %fdh83k, 512
  %t88 = add i64 %t87, 0
  %t89 = getelementptr i8, ptr %lev, i64 %t88
  %t90 = load <64 x float>, ptr %t89, align 8
  %e5_1 = fadd <64 x float> %t90, %fdh83c0
  %fdh83kn = add i64 %fdh83k, 1
  br label %fdh83
fdd85:
  %t91 = shufflevector <64 x float> %fdh83c0, <64 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t92 = shufflevector <64 x float> %fdh83c0, <64 x float> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %e6_1 = fadd <32 x float> %t91, %t92
  %t93 = shufflevector <32 x float> %e6_1, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t94 = shufflevector <32 x float> %e6_1, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e7_1 = fadd <16 x float> %t93, %t94
  %t95 = shufflevector <16 x float> %e7_1, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t96 = shufflevector <16 x float> %e7_1, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %e8_1 = fadd <8 x float> %t95, %t96
  %t97 = shufflevector <8 x float> %e8_1, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t98 = shufflevector <8 x float> %e8_1, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %e9_1 = fadd <4 x float> %t97, %t98
  %t99 = shufflevector <4 x float> %e9_1, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %t100 = shufflevector <4 x float> %e9_1, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %e10_1 = fadd <2 x float> %t99, %t100
  %t101 = extractelement <2 x float> %e10_1, i64 0
  %t102 = extractelement <2 x float> %e10_1, i64 1
  %e11_1 = fadd float %t101, %t102
  %e13_1 = fcmp une float %e11_1, %e11_1
  %e13_2 = bitcast float %e11_1 to i32
  %e13_3 = or i32 %e13_2, 4194304
  %e13_4 = lshr i32 %e13_2, 16
  %e13_5 = and i32 %e13_4, 1
  %e13_6 = add i32 %e13_5, 32767
  %e13_7 = add i32 %e13_2, %e13_6
  %e13_8 = select i1 %e13_1, i32 %e13_3, i32 %e13_7
  %e13_9 = and i32 %e13_8, 4294901760
  %e13_10 = bitcast i32 %e13_9 to float
  %t103 = inttoptr i64 %t8 to ptr
  %e14_1 = bitcast float %e13_10 to i32
  %e14_2 = lshr i32 %e14_1, 16
  %e14_3 = trunc i32 %e14_2 to i16
  store i16 %e14_3, ptr %t103, align 2
  br label %next
next:
  %r2 = add i64 %r, 1
  %t104 = icmp uge i64 %r2, %hi
  br i1 %t104, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 11)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
