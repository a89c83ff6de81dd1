; kernel units width 64
;   %0 = in.v:float32
;   %1 = out.s:float32
;   %2 = sum %0 :float32 O
;   store %2 -> %1
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 256, align 64
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = icmp eq i64 %t3, 4
  %t5 = getelementptr i64, ptr %params, i64 5
  %t6 = load i64, ptr %t5, align 8
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%lo, %pre], [%r2, %again]
  %t7 = udiv i64 %r, %t6
  %t8 = mul i64 %t7, %t6
  %t9 = sub i64 %r, %t8
  call void @ev_decode(ptr %params, i64 %t7, ptr %idx, ptr %base, i64 2, i64 11)
  %t10 = mul i64 %t9, 16384
  %t11 = add i64 %t10, 16384
  %t12 = icmp ult i64 %t11, %n
  %t13 = select i1 %t12, i64 %t11, i64 %n
  %t14 = getelementptr i64, ptr %base, i64 0
  %t15 = load i64, ptr %t14, align 8
  %t16 = getelementptr i64, ptr %base, i64 1
  %t17 = load i64, ptr %t16, align 8
  %t18 = sub i64 %t13, %t10
  %t19 = add i64 %t18, 63
  %t20 = udiv i64 %t19, 64
  %t21 = or i64 %t20, 1
  %t22 = call i64 @llvm.ctlz.i64(i64 %t21, i1 true)
  %t23 = sub i64 63, %t22
  %t24 = lshr i64 %t23, 2
  br label %rstp28
rstp28:
  br label %rst25
rst25:
  %rst25k = phi i64 [1, %rstp28], [%rst25kn, %rstb26]
  %t29 = icmp ule i64 %rst25k, %t24
  br i1 %t29, label %rstb26, label %rstd27
rstb26:
  %t30 = mul i64 %rst25k, 512
  %t31 = add i64 %t30, 0
  %t32 = getelementptr i8, ptr %lev, i64 %t31
  store <64 x float> splat (float 0x8000000000000000), ptr %t32, align 8
  %rst25kn = add i64 %rst25k, 1
  br label %rst25
rstd27:
  br label %ppre33
ppre33:
  br label %phead34
phead34:
  %phead34i = phi i64 [%t10, %ppre33], [%phead34in, %platch35]
  %phead34a0 = phi <64 x float> [splat (float 0x8000000000000000), %ppre33], [%t89, %platch35]
  %t37 = add i64 %phead34i, 64
  %t38 = icmp ule i64 %t37, %t13
  %t39 = and i1 %t38, %t4
  br i1 %t39, label %dir40, label %slow41
dir40:
  %t43 = mul i64 %phead34i, 4
  %t44 = add i64 %t15, %t43
  %t45 = inttoptr i64 %t44 to ptr
  br label %body42
slow41:
  %t46 = sub i64 %t13, %phead34i
  %t47 = icmp ult i64 %t46, 64
  %t48 = select i1 %t47, i64 %t46, i64 64
  %t49 = mul i64 %phead34i, %t3
  %t50 = add i64 %t15, %t49
  %t51 = inttoptr i64 %t50 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t51, i64 %t3, i64 %t48)
  br label %body42
body42:
  %t52 = phi i64 [64, %dir40], [%t48, %slow41]
  %t53 = phi ptr [%t45, %dir40], [%buf0, %slow41]
  %e1_1 = load <64 x float>, ptr %t53, align 4
  br label %lift56
lift56:
  br i1 %t39, label %join55, label %mask54
mask54:
  %t57 = trunc i64 %t52 to i32
  %e2_1 = insertelement <64 x i32> poison, i32 %t57, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %t58 = icmp ult <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>, %e2_2
  %t59 = select <64 x i1> %t58, <64 x float> %e1_1, <64 x float> splat (float 0x8000000000000000)
  br label %join55
join55:
  %t60 = phi <64 x float> [%e1_1, %lift56], [%t59, %mask54]
  %e3_1 = fadd <64 x float> %phead34a0, %t60
  br label %platch35p
platch35p:
  %t61 = sub i64 %phead34i, %t10
  %t62 = udiv i64 %t61, 64
  %t63 = add i64 %t62, 1
  %t64 = and i64 %t63, 15
  %t65 = icmp eq i64 %t64, 0
  br i1 %t65, label %push66, label %platch35
push66:
  %t67 = lshr i64 %t63, 4
  br label %psp69
psp69:
  br label %psh70
psh70:
  %psh70k = phi i64 [1, %psp69], [%psh70kn, %psm71]
  %psh70c0 = phi <64 x float> [%e3_1, %psp69], [%e4_1, %psm71]
  %t72 = mul i64 %psh70k, 512
  %t73 = add i64 %t72, 0
  %t74 = getelementptr i8, ptr %lev, i64 %t73
  %t75 = load <64 x float>, ptr %t74, align 8
  %e4_1 = fadd <64 x float> %t75, %psh70c0
  %t76 = sub i64 %psh70k, 0
  %t77 = shl i64 %t76, 2
  %t78 = shl i64 1, %t77
  %t79 = sub i64 %t78, 1
  %t80 = and i64 %t67, %t79
  %t81 = icmp eq i64 %t80, 0
  br i1 %t81, label %psm71, label %psk82
psm71:
  %t83 = mul i64 %psh70k, 512
  %t84 = add i64 %t83, 0
  %t85 = getelementptr i8, ptr %lev, i64 %t84
  store <64 x float> splat (float 0x8000000000000000), ptr %t85, align 8
  %psh70kn = add i64 %psh70k, 1
  br label %psh70
psk82:
  %t86 = mul i64 %psh70k, 512
  %t87 = add i64 %t86, 0
  %t88 = getelementptr i8, ptr %lev, i64 %t87
  store <64 x float> %e4_1, ptr %t88, align 8
  br label %pushed68
pushed68:
  br label %platch35
platch35:
  %t89 = phi <64 x float> [%e3_1, %platch35p], [splat (float 0x8000000000000000), %pushed68]
  %phead34in = add i64 %phead34i, 64
  %t90 = icmp ult i64 %phead34in, %t13
  br i1 %t90, label %phead34, label %pdone36
pdone36:
  br label %fdp91
fdp91:
  br label %fdh92
fdh92:
  %fdh92k = phi i64 [1, %fdp91], [%fdh92kn, %fdb93]
  %fdh92c0 = phi <64 x float> [%t89, %fdp91], [%e5_1, %fdb93]
  %t95 = icmp ule i64 %fdh92k, %t24
  br i1 %t95, label %fdb93, label %fdd94
fdb93:
  %t96 = mul i64 %fdh92k, 512
  %t97 = add i64 %t96, 0
  %t98 = getelementptr i8, ptr %lev, i64 %t97
  %t99 = load <64 x float>, ptr %t98, align 8
  %e5_1 = fadd <64 x float> %t99, %fdh92c0
  %fdh92kn = add i64 %fdh92k, 1
  br label %fdh92
fdd94:
  %t100 = getelementptr i64, ptr %params, i64 6
  %t101 = load i64, ptr %t100, align 8
  %t102 = mul i64 %r, 512
  %t103 = add i64 %t101, %t102
  %t104 = add i64 %t103, 0
  %t105 = inttoptr i64 %t104 to ptr
  store <64 x float> %fdh92c0, ptr %t105, align 8
  br label %next
next:
  %r2 = add i64 %r, 1
  %t106 = icmp uge i64 %r2, %hi
  br i1 %t106, label %done, label %again
again:
  br label %row
done:
  ret void
}
define void @kernel_finish(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 256, align 64
  %lev = alloca i8, i64 5120, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = icmp eq i64 %t3, 4
  %t5 = getelementptr i64, ptr %params, i64 5
  %t6 = load i64, ptr %t5, align 8
  %t7 = or i64 %t6, 1
  %t8 = call i64 @llvm.ctlz.i64(i64 %t7, i1 true)
  %t9 = sub i64 63, %t8
  %t10 = lshr i64 %t9, 2
  %t11 = add i64 %t10, 1
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%lo, %pre], [%r2, %again]
  call void @ev_decode(ptr %params, i64 %r, ptr %idx, ptr %base, i64 2, i64 11)
  %t12 = getelementptr i64, ptr %base, i64 0
  %t13 = load i64, ptr %t12, align 8
  %t14 = getelementptr i64, ptr %base, i64 1
  %t15 = load i64, ptr %t14, align 8
  br label %rstp19
rstp19:
  br label %rst16
rst16:
  %rst16k = phi i64 [1, %rstp19], [%rst16kn, %rstb17]
  %t20 = icmp ule i64 %rst16k, %t11
  br i1 %t20, label %rstb17, label %rstd18
rstb17:
  %t21 = mul i64 %rst16k, 512
  %t22 = add i64 %t21, 0
  %t23 = getelementptr i8, ptr %lev, i64 %t22
  store <64 x float> splat (float 0x8000000000000000), ptr %t23, align 8
  %rst16kn = add i64 %rst16k, 1
  br label %rst16
rstd18:
  %t24 = getelementptr i64, ptr %params, i64 6
  %t25 = load i64, ptr %t24, align 8
  %t26 = mul i64 %r, %t6
  br label %upre
upre:
  br label %unit
unit:
  %u = phi i64 [0, %upre], [%u2, %ulatch]
  %t27 = add i64 %t26, %u
  %t28 = mul i64 %t27, 512
  %t29 = add i64 %t25, %t28
  %t30 = add i64 %t29, 0
  %t31 = inttoptr i64 %t30 to ptr
  %t32 = load <64 x float>, ptr %t31, align 8
  %u2 = add i64 %u, 1
  br label %psp33
psp33:
  br label %psh34
psh34:
  %psh34k = phi i64 [1, %psp33], [%psh34kn, %psm35]
  %psh34c0 = phi <64 x float> [%t32, %psp33], [%e6_1, %psm35]
  %t36 = mul i64 %psh34k, 512
  %t37 = add i64 %t36, 0
  %t38 = getelementptr i8, ptr %lev, i64 %t37
  %t39 = load <64 x float>, ptr %t38, align 8
  %e6_1 = fadd <64 x float> %t39, %psh34c0
  %t40 = sub i64 %psh34k, 0
  %t41 = shl i64 %t40, 2
  %t42 = shl i64 1, %t41
  %t43 = sub i64 %t42, 1
  %t44 = and i64 %u2, %t43
  %t45 = icmp eq i64 %t44, 0
  br i1 %t45, label %psm35, label %psk46
psm35:
  %t47 = mul i64 %psh34k, 512
  %t48 = add i64 %t47, 0
  %t49 = getelementptr i8, ptr %lev, i64 %t48
  store <64 x float> splat (float 0x8000000000000000), ptr %t49, align 8
  %psh34kn = add i64 %psh34k, 1
  br label %psh34
psk46:
  %t50 = mul i64 %psh34k, 512
  %t51 = add i64 %t50, 0
  %t52 = getelementptr i8, ptr %lev, i64 %t51
  store <64 x float> %e6_1, ptr %t52, align 8
  br label %ulatch
ulatch:
  %t53 = icmp ult i64 %u2, %t6
  br i1 %t53, label %unit, label %uend
uend:
  br label %fdp54
fdp54:
  br label %fdh55
fdh55:
  %fdh55k = phi i64 [1, %fdp54], [%fdh55kn, %fdb56]
  %fdh55c0 = phi <64 x float> [splat (float 0x8000000000000000), %fdp54], [%e7_1, %fdb56]
  %t58 = icmp ule i64 %fdh55k, %t11
  br i1 %t58, label %fdb56, label %fdd57
fdb56:
  %t59 = mul i64 %fdh55k, 512
  %t60 = add i64 %t59, 0
  %t61 = getelementptr i8, ptr %lev, i64 %t60
  %t62 = load <64 x float>, ptr %t61, align 8
  %e7_1 = fadd <64 x float> %t62, %fdh55c0
  %fdh55kn = add i64 %fdh55k, 1
  br label %fdh55
fdd57:
  %t63 = shufflevector <64 x float> %fdh55c0, <64 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t64 = shufflevector <64 x float> %fdh55c0, <64 x float> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %e8_1 = fadd <32 x float> %t63, %t64
  %t65 = shufflevector <32 x float> %e8_1, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t66 = shufflevector <32 x float> %e8_1, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e9_1 = fadd <16 x float> %t65, %t66
  %t67 = shufflevector <16 x float> %e9_1, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t68 = shufflevector <16 x float> %e9_1, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %e10_1 = fadd <8 x float> %t67, %t68
  %t69 = shufflevector <8 x float> %e10_1, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t70 = shufflevector <8 x float> %e10_1, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %e11_1 = fadd <4 x float> %t69, %t70
  %t71 = shufflevector <4 x float> %e11_1, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %t72 = shufflevector <4 x float> %e11_1, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %e12_1 = fadd <2 x float> %t71, %t72
  %t73 = extractelement <2 x float> %e12_1, i64 0
  %t74 = extractelement <2 x float> %e12_1, i64 1
  %e13_1 = fadd float %t73, %t74
  %t75 = inttoptr i64 %t15 to ptr
  store float %e13_1, ptr %t75, align 4
  br label %next
next:
  %r2 = add i64 %r, 1
  %t76 = icmp uge i64 %r2, %hi
  br i1 %t76, label %done, label %again
again:
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
