; kernel row width 64
;   %0 = in.v:float32
;   %1 = out.s:uint32
;   %2 = argmin %0 :uint32 O
;   store %2 -> %1
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
  %lev = alloca i8, i64 10240, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = icmp eq i64 %t3, 4
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
  %t21 = mul i64 %rst16k, 1024
  %t22 = add i64 %t21, 0
  %t23 = getelementptr i8, ptr %lev, i64 %t22
  store <64 x float> splat (float 0x0000000000000000), ptr %t23, align 8
  %t24 = mul i64 %rst16k, 1024
  %t25 = add i64 %t24, 512
  %t26 = getelementptr i8, ptr %lev, i64 %t25
  store <64 x i32> splat (i32 4294967295), ptr %t26, align 8
  %rst16kn = add i64 %rst16k, 1
  br label %rst16
rstd18:
  br label %ppre27
ppre27:
  br label %phead28
phead28:
  %phead28i = phi i64 [0, %ppre27], [%phead28in, %platch29]
  %phead28a0 = phi <64 x float> [splat (float 0x0000000000000000), %ppre27], [%t97, %platch29]
  %phead28a1 = phi <64 x i32> [splat (i32 4294967295), %ppre27], [%t98, %platch29]
  %t31 = add i64 %phead28i, 64
  %t32 = icmp ule i64 %t31, %n
  %t33 = and i1 %t32, %t4
  br i1 %t33, label %dir34, label %slow35
dir34:
  %t37 = mul i64 %phead28i, 4
  %t38 = add i64 %t6, %t37
  %t39 = inttoptr i64 %t38 to ptr
  br label %body36
slow35:
  %t40 = sub i64 %n, %phead28i
  %t41 = icmp ult i64 %t40, 64
  %t42 = select i1 %t41, i64 %t40, i64 64
  %t43 = mul i64 %phead28i, %t3
  %t44 = add i64 %t6, %t43
  %t45 = inttoptr i64 %t44 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t45, i64 %t3, i64 %t42)
  br label %body36
body36:
  %t46 = phi i64 [64, %dir34], [%t42, %slow35]
  %t47 = phi ptr [%t39, %dir34], [%buf0, %slow35]
  %e1_1 = load <64 x float>, ptr %t47, align 4
  %t48 = trunc i64 %phead28i to i32
  %e2_1 = insertelement <64 x i32> poison, i32 %t48, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %t49 = add <64 x i32> %e2_2, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  br label %lift52
lift52:
  br i1 %t33, label %join51, label %mask50
mask50:
  %t53 = trunc i64 %t46 to i32
  %e2_3 = insertelement <64 x i32> poison, i32 %t53, i64 0
  %e2_4 = shufflevector <64 x i32> %e2_3, <64 x i32> poison, <64 x i32> zeroinitializer
  %t54 = icmp ult <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>, %e2_4
  %t55 = select <64 x i1> %t54, <64 x float> %e1_1, <64 x float> splat (float 0x0000000000000000)
  %t56 = select <64 x i1> %t54, <64 x i32> %t49, <64 x i32> splat (i32 4294967295)
  br label %join51
join51:
  %t57 = phi <64 x float> [%e1_1, %lift52], [%t55, %mask50]
  %t58 = phi <64 x i32> [%t49, %lift52], [%t56, %mask50]
  %e3_1 = icmp eq <64 x i32> %t58, splat (i32 4294967295)
  %e3_2 = icmp ne <64 x i32> %phead28a1, splat (i32 4294967295)
  %e3_3 = fcmp olt <64 x float> %phead28a0, %t57
  %e3_4 = fcmp une <64 x float> %phead28a0, %phead28a0
  %e3_5 = fcmp une <64 x float> %t57, %t57
  %e3_6 = xor <64 x i1> %e3_5, splat (i1 true)
  %e3_7 = and <64 x i1> %e3_4, %e3_6
  %e3_8 = or <64 x i1> %e3_3, %e3_7
  %e3_9 = fcmp une <64 x float> %t57, %t57
  %e3_10 = fcmp une <64 x float> %phead28a0, %phead28a0
  %e3_11 = xor <64 x i1> %e3_10, splat (i1 true)
  %e3_12 = and <64 x i1> %e3_9, %e3_11
  %e3_13 = xor <64 x i1> %e3_12, splat (i1 true)
  %e3_14 = and <64 x i1> %e3_8, %e3_13
  %e3_15 = fcmp oeq <64 x float> %phead28a0, %t57
  %e3_16 = fcmp une <64 x float> %phead28a0, %phead28a0
  %e3_17 = fcmp une <64 x float> %t57, %t57
  %e3_18 = and <64 x i1> %e3_16, %e3_17
  %e3_19 = or <64 x i1> %e3_15, %e3_18
  %e3_20 = icmp ult <64 x i32> %phead28a1, %t58
  %e3_21 = and <64 x i1> %e3_19, %e3_20
  %e3_22 = or <64 x i1> %e3_14, %e3_21
  %e3_23 = and <64 x i1> %e3_2, %e3_22
  %e3_24 = or <64 x i1> %e3_1, %e3_23
  %e3_25 = select <64 x i1> %e3_24, <64 x float> %phead28a0, <64 x float> %t57
  %e3_26 = select <64 x i1> %e3_24, <64 x i32> %phead28a1, <64 x i32> %t58
  br label %platch29p
platch29p:
  %t59 = sub i64 %phead28i, 0
  %t60 = udiv i64 %t59, 64
  %t61 = add i64 %t60, 1
  %t62 = and i64 %t61, 15
  %t63 = icmp eq i64 %t62, 0
  br i1 %t63, label %push64, label %platch29
push64:
  %t65 = lshr i64 %t61, 4
  br label %psp67
psp67:
  br label %psh68
psh68:
  %psh68k = phi i64 [1, %psp67], [%psh68kn, %psm69]
  %psh68c0 = phi <64 x float> [%e3_25, %psp67], [%e4_25, %psm69]
  %psh68c1 = phi <64 x i32> [%e3_26, %psp67], [%e4_26, %psm69]
  %t70 = mul i64 %psh68k, 1024
  %t71 = add i64 %t70, 0
  %t72 = getelementptr i8, ptr %lev, i64 %t71
  %t73 = load <64 x float>, ptr %t72, align 8
  %t74 = mul i64 %psh68k, 1024
  %t75 = add i64 %t74, 512
  %t76 = getelementptr i8, ptr %lev, i64 %t75
  %t77 = load <64 x i32>, ptr %t76, align 8
  %e4_1 = icmp eq <64 x i32> %psh68c1, splat (i32 4294967295)
  %e4_2 = icmp ne <64 x i32> %t77, splat (i32 4294967295)
  %e4_3 = fcmp olt <64 x float> %t73, %psh68c0
  %e4_4 = fcmp une <64 x float> %t73, %t73
  %e4_5 = fcmp une <64 x float> %psh68c0, %psh68c0
  %e4_6 = xor <64 x i1> %e4_5, splat (i1 true)
  %e4_7 = and <64 x i1> %e4_4, %e4_6
  %e4_8 = or <64 x i1> %e4_3, %e4_7
  %e4_9 = fcmp une <64 x float> %psh68c0, %psh68c0
  %e4_10 = fcmp une <64 x float> %t73, %t73
  %e4_11 = xor <64 x i1> %e4_10, splat (i1 true)
  %e4_12 = and <64 x i1> %e4_9, %e4_11
  %e4_13 = xor <64 x i1> %e4_12, splat (i1 true)
  %e4_14 = and <64 x i1> %e4_8, %e4_13
  %e4_15 = fcmp oeq <64 x float> %t73, %psh68c0
  %e4_16 = fcmp une <64 x float> %t73, %t73
  %e4_17 = fcmp une <64 x float> %psh68c0, %psh68c0
  %e4_18 = and <64 x i1> %e4_16, %e4_17
  %e4_19 = or <64 x i1> %e4_15, %e4_18
  %e4_20 = icmp ult <64 x i32> %t77, %psh68c1
  %e4_21 = and <64 x i1> %e4_19, %e4_20
  %e4_22 = or <64 x i1> %e4_14, %e4_21
  %e4_23 = and <64 x i1> %e4_2, %e4_22
  %e4_24 = or <64 x i1> %e4_1, %e4_23
  %e4_25 = select <64 x i1> %e4_24, <64 x float> %t73, <64 x float> %psh68c0
  %e4_26 = select <64 x i1> %e4_24, <64 x i32> %t77, <64 x i32> %psh68c1
  %t78 = sub i64 %psh68k, 0
  %t79 = shl i64 %t78, 2
  %t80 = shl i64 1, %t79
  %t81 = sub i64 %t80, 1
  %t82 = and i64 %t65, %t81
  %t83 = icmp eq i64 %t82, 0
  br i1 %t83, label %psm69, label %psk84
psm69:
  %t85 = mul i64 %psh68k, 1024
  %t86 = add i64 %t85, 0
  %t87 = getelementptr i8, ptr %lev, i64 %t86
  store <64 x float> splat (float 0x0000000000000000), ptr %t87, align 8
  %t88 = mul i64 %psh68k, 1024
  %t89 = add i64 %t88, 512
  %t90 = getelementptr i8, ptr %lev, i64 %t89
  store <64 x i32> splat (i32 4294967295), ptr %t90, align 8
  %psh68kn = add i64 %psh68k, 1
  br label %psh68
psk84:
  %t91 = mul i64 %psh68k, 1024
  %t92 = add i64 %t91, 0
  %t93 = getelementptr i8, ptr %lev, i64 %t92
  store <64 x float> %e4_25, ptr %t93, align 8
  %t94 = mul i64 %psh68k, 1024
  %t95 = add i64 %t94, 512
  %t96 = getelementptr i8, ptr %lev, i64 %t95
  store <64 x i32> %e4_26, ptr %t96, align 8
  br label %pushed66
pushed66:
  br label %platch29
platch29:
  %t97 = phi <64 x float> [%e3_25, %platch29p], [splat (float 0x0000000000000000), %pushed66]
  %t98 = phi <64 x i32> [%e3_26, %platch29p], [splat (i32 4294967295), %pushed66]
  %phead28in = add i64 %phead28i, 64
  %t99 = icmp ult i64 %phead28in, %n
  br i1 %t99, label %phead28, label %pdone30
pdone30:
  br label %fdp100
fdp100:
  br label %fdh101
fdh101:
  %fdh101k = phi i64 [1, %fdp100], [%fdh101kn, %fdb102]
  %fdh101c0 = phi <64 x float> [%t97, %fdp100], [%e5_25, %fdb102]
  %fdh101c1 = phi <64 x i32> [%t98, %fdp100], [%e5_26, %fdb102]
  %t104 = icmp ule i64 %fdh101k, %t15
  br i1 %t104, label %fdb102, label %fdd103
fdb102:
  %t105 = mul i64 %fdh101k, 1024
  %t106 = add i64 %t105, 0
  %t107 = getelementptr i8, ptr %lev, i64 %t106
  %t108 = load <64 x float>, ptr %t107, align 8
  %t109 = mul i64 %fdh101k, 1024
  %t110 = add i64 %t109, 512
  %t111 = getelementptr i8, ptr %lev, i64 %t110
  %t112 = load <64 x i32>, ptr %t111, align 8
  %e5_1 = icmp eq <64 x i32> %fdh101c1, splat (i32 4294967295)
  %e5_2 = icmp ne <64 x i32> %t112, splat (i32 4294967295)
  %e5_3 = fcmp olt <64 x float> %t108, %fdh101c0
  %e5_4 = fcmp une <64 x float> %t108, %t108
  %e5_5 = fcmp une <64 x float> %fdh101c0, %fdh101c0
  %e5_6 = xor <64 x i1> %e5_5, splat (i1 true)
  %e5_7 = and <64 x i1> %e5_4, %e5_6
  %e5_8 = or <64 x i1> %e5_3, %e5_7
  %e5_9 = fcmp une <64 x float> %fdh101c0, %fdh101c0
  %e5_10 = fcmp une <64 x float> %t108, %t108
  %e5_11 = xor <64 x i1> %e5_10, splat (i1 true)
  %e5_12 = and <64 x i1> %e5_9, %e5_11
  %e5_13 = xor <64 x i1> %e5_12, splat (i1 true)
  %e5_14 = and <64 x i1> %e5_8, %e5_13
  %e5_15 = fcmp oeq <64 x float> %t108, %fdh101c0
  %e5_16 = fcmp une <64 x float> %t108, %t108
  %e5_17 = fcmp une <64 x float> %fdh101c0, %fdh101c0
  %e5_18 = and <64 x i1> %e5_16, %e5_17
  %e5_19 = or <64 x i1> %e5_15, %e5_18
  %e5_20 = icmp ult <64 x i32> %t112, %fdh101c1
  %e5_21 = and <64 x i1> %e5_19, %e5_20
  %e5_22 = or <64 x i1> %e5_14, %e5_21
  %e5_23 = and <64 x i1> %e5_2, %e5_22
  %e5_24 = or <64 x i1> %e5_1, %e5_23
  %e5_25 = select <64 x i1> %e5_24, <64 x float> %t108, <64 x float> %fdh101c0
  %e5_26 = select <64 x i1> %e5_24, <64 x i32> %t112, <64 x i32> %fdh101c1
  %fdh101kn = add i64 %fdh101k, 1
  br label %fdh101
fdd103:
  %t113 = shufflevector <64 x float> %fdh101c0, <64 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t114 = shufflevector <64 x float> %fdh101c0, <64 x float> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %t115 = shufflevector <64 x i32> %fdh101c1, <64 x i32> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t116 = shufflevector <64 x i32> %fdh101c1, <64 x i32> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %e6_1 = icmp eq <32 x i32> %t116, splat (i32 4294967295)
  %e6_2 = icmp ne <32 x i32> %t115, splat (i32 4294967295)
  %e6_3 = fcmp olt <32 x float> %t113, %t114
  %e6_4 = fcmp une <32 x float> %t113, %t113
  %e6_5 = fcmp une <32 x float> %t114, %t114
  %e6_6 = xor <32 x i1> %e6_5, splat (i1 true)
  %e6_7 = and <32 x i1> %e6_4, %e6_6
  %e6_8 = or <32 x i1> %e6_3, %e6_7
  %e6_9 = fcmp une <32 x float> %t114, %t114
  %e6_10 = fcmp une <32 x float> %t113, %t113
  %e6_11 = xor <32 x i1> %e6_10, splat (i1 true)
  %e6_12 = and <32 x i1> %e6_9, %e6_11
  %e6_13 = xor <32 x i1> %e6_12, splat (i1 true)
  %e6_14 = and <32 x i1> %e6_8, %e6_13
  %e6_15 = fcmp oeq <32 x float> %t113, %t114
  %e6_16 = fcmp une <32 x float> %t113, %t113
  %e6_17 = fcmp une <32 x float> %t114, %t114
  %e6_18 = and <32 x i1> %e6_16, %e6_17
  %e6_19 = or <32 x i1> %e6_15, %e6_18
  %e6_20 = icmp ult <32 x i32> %t115, %t116
  %e6_21 = and <32 x i1> %e6_19, %e6_20
  %e6_22 = or <32 x i1> %e6_14, %e6_21
  %e6_23 = and <32 x i1> %e6_2, %e6_22
  %e6_24 = or <32 x i1> %e6_1, %e6_23
  %e6_25 = select <32 x i1> %e6_24, <32 x float> %t113, <32 x float> %t114
  %e6_26 = select <32 x i1> %e6_24, <32 x i32> %t115, <32 x i32> %t116
  %t117 = shufflevector <32 x float> %e6_25, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t118 = shufflevector <32 x float> %e6_25, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t119 = shufflevector <32 x i32> %e6_26, <32 x i32> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t120 = shufflevector <32 x i32> %e6_26, <32 x i32> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e7_1 = icmp eq <16 x i32> %t120, splat (i32 4294967295)
  %e7_2 = icmp ne <16 x i32> %t119, splat (i32 4294967295)
  %e7_3 = fcmp olt <16 x float> %t117, %t118
  %e7_4 = fcmp une <16 x float> %t117, %t117
  %e7_5 = fcmp une <16 x float> %t118, %t118
  %e7_6 = xor <16 x i1> %e7_5, splat (i1 true)
  %e7_7 = and <16 x i1> %e7_4, %e7_6
  %e7_8 = or <16 x i1> %e7_3, %e7_7
  %e7_9 = fcmp une <16 x float> %t118, %t118
  %e7_10 = fcmp une <16 x float> %t117, %t117
  %e7_11 = xor <16 x i1> %e7_10, splat (i1 true)
  %e7_12 = and <16 x i1> %e7_9, %e7_11
  %e7_13 = xor <16 x i1> %e7_12, splat (i1 true)
  %e7_14 = and <16 x i1> %e7_8, %e7_13
  %e7_15 = fcmp oeq <16 x float> %t117, %t118
  %e7_16 = fcmp une <16 x float> %t117, %t117
  %e7_17 = fcmp une <16 x float> %t118, %t118
  %e7_18 = and <16 x i1> %e7_16, %e7_17
  %e7_19 = or <16 x i1> %e7_15, %e7_18
  %e7_20 = icmp ult <16 x i32> %t119, %t120
  %e7_21 = and <16 x i1> %e7_19, %e7_20
  %e7_22 = or <16 x i1> %e7_14, %e7_21
  %e7_23 = and <16 x i1> %e7_2, %e7_22
  %e7_24 = or <16 x i1> %e7_1, %e7_23
  %e7_25 = select <16 x i1> %e7_24, <16 x float> %t117, <16 x float> %t118
  %e7_26 = select <16 x i1> %e7_24, <16 x i32> %t119, <16 x i32> %t120
  %t121 = shufflevector <16 x float> %e7_25, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t122 = shufflevector <16 x float> %e7_25, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t123 = shufflevector <16 x i32> %e7_26, <16 x i32> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t124 = shufflevector <16 x i32> %e7_26, <16 x i32> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %e8_1 = icmp eq <8 x i32> %t124, splat (i32 4294967295)
  %e8_2 = icmp ne <8 x i32> %t123, splat (i32 4294967295)
  %e8_3 = fcmp olt <8 x float> %t121, %t122
  %e8_4 = fcmp une <8 x float> %t121, %t121
  %e8_5 = fcmp une <8 x float> %t122, %t122
  %e8_6 = xor <8 x i1> %e8_5, splat (i1 true)
  %e8_7 = and <8 x i1> %e8_4, %e8_6
  %e8_8 = or <8 x i1> %e8_3, %e8_7
  %e8_9 = fcmp une <8 x float> %t122, %t122
  %e8_10 = fcmp une <8 x float> %t121, %t121
  %e8_11 = xor <8 x i1> %e8_10, splat (i1 true)
  %e8_12 = and <8 x i1> %e8_9, %e8_11
  %e8_13 = xor <8 x i1> %e8_12, splat (i1 true)
  %e8_14 = and <8 x i1> %e8_8, %e8_13
  %e8_15 = fcmp oeq <8 x float> %t121, %t122
  %e8_16 = fcmp une <8 x float> %t121, %t121
  %e8_17 = fcmp une <8 x float> %t122, %t122
  %e8_18 = and <8 x i1> %e8_16, %e8_17
  %e8_19 = or <8 x i1> %e8_15, %e8_18
  %e8_20 = icmp ult <8 x i32> %t123, %t124
  %e8_21 = and <8 x i1> %e8_19, %e8_20
  %e8_22 = or <8 x i1> %e8_14, %e8_21
  %e8_23 = and <8 x i1> %e8_2, %e8_22
  %e8_24 = or <8 x i1> %e8_1, %e8_23
  %e8_25 = select <8 x i1> %e8_24, <8 x float> %t121, <8 x float> %t122
  %e8_26 = select <8 x i1> %e8_24, <8 x i32> %t123, <8 x i32> %t124
  %t125 = shufflevector <8 x float> %e8_25, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t126 = shufflevector <8 x float> %e8_25, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t127 = shufflevector <8 x i32> %e8_26, <8 x i32> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t128 = shufflevector <8 x i32> %e8_26, <8 x i32> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %e9_1 = icmp eq <4 x i32> %t128, splat (i32 4294967295)
  %e9_2 = icmp ne <4 x i32> %t127, splat (i32 4294967295)
  %e9_3 = fcmp olt <4 x float> %t125, %t126
  %e9_4 = fcmp une <4 x float> %t125, %t125
  %e9_5 = fcmp une <4 x float> %t126, %t126
  %e9_6 = xor <4 x i1> %e9_5, splat (i1 true)
  %e9_7 = and <4 x i1> %e9_4, %e9_6
  %e9_8 = or <4 x i1> %e9_3, %e9_7
  %e9_9 = fcmp une <4 x float> %t126, %t126
  %e9_10 = fcmp une <4 x float> %t125, %t125
  %e9_11 = xor <4 x i1> %e9_10, splat (i1 true)
  %e9_12 = and <4 x i1> %e9_9, %e9_11
  %e9_13 = xor <4 x i1> %e9_12, splat (i1 true)
  %e9_14 = and <4 x i1> %e9_8, %e9_13
  %e9_15 = fcmp oeq <4 x float> %t125, %t126
  %e9_16 = fcmp une <4 x float> %t125, %t125
  %e9_17 = fcmp une <4 x float> %t126, %t126
  %e9_18 = and <4 x i1> %e9_16, %e9_17
  %e9_19 = or <4 x i1> %e9_15, %e9_18
  %e9_20 = icmp ult <4 x i32> %t127, %t128
  %e9_21 = and <4 x i1> %e9_19, %e9_20
  %e9_22 = or <4 x i1> %e9_14, %e9_21
  %e9_23 = and <4 x i1> %e9_2, %e9_22
  %e9_24 = or <4 x i1> %e9_1, %e9_23
  %e9_25 = select <4 x i1> %e9_24, <4 x float> %t125, <4 x float> %t126
  %e9_26 = select <4 x i1> %e9_24, <4 x i32> %t127, <4 x i32> %t128
  %t129 = shufflevector <4 x float> %e9_25, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %t130 = shufflevector <4 x float> %e9_25, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %t131 = shufflevector <4 x i32> %e9_26, <4 x i32> poison, <2 x i32> <i32 0, i32 1>
  %t132 = shufflevector <4 x i32> %e9_26, <4 x i32> poison, <2 x i32> <i32 2, i32 3>
  %e10_1 = icmp eq <2 x i32> %t132, splat (i32 4294967295)
  %e10_2 = icmp ne <2 x i32> %t131, splat (i32 4294967295)
  %e10_3 = fcmp olt <2 x float> %t129, %t130
  %e10_4 = fcmp une <2 x float> %t129, %t129
  %e10_5 = fcmp une <2 x float> %t130, %t130
  %e10_6 = xor <2 x i1> %e10_5, splat (i1 true)
  %e10_7 = and <2 x i1> %e10_4, %e10_6
  %e10_8 = or <2 x i1> %e10_3, %e10_7
  %e10_9 = fcmp une <2 x float> %t130, %t130
  %e10_10 = fcmp une <2 x float> %t129, %t129
  %e10_11 = xor <2 x i1> %e10_10, splat (i1 true)
  %e10_12 = and <2 x i1> %e10_9, %e10_11
  %e10_13 = xor <2 x i1> %e10_12, splat (i1 true)
  %e10_14 = and <2 x i1> %e10_8, %e10_13
  %e10_15 = fcmp oeq <2 x float> %t129, %t130
  %e10_16 = fcmp une <2 x float> %t129, %t129
  %e10_17 = fcmp une <2 x float> %t130, %t130
  %e10_18 = and <2 x i1> %e10_16, %e10_17
  %e10_19 = or <2 x i1> %e10_15, %e10_18
  %e10_20 = icmp ult <2 x i32> %t131, %t132
  %e10_21 = and <2 x i1> %e10_19, %e10_20
  %e10_22 = or <2 x i1> %e10_14, %e10_21
  %e10_23 = and <2 x i1> %e10_2, %e10_22
  %e10_24 = or <2 x i1> %e10_1, %e10_23
  %e10_25 = select <2 x i1> %e10_24, <2 x float> %t129, <2 x float> %t130
  %e10_26 = select <2 x i1> %e10_24, <2 x i32> %t131, <2 x i32> %t132
  %t133 = extractelement <2 x float> %e10_25, i64 0
  %t134 = extractelement <2 x float> %e10_25, i64 1
  %t135 = extractelement <2 x i32> %e10_26, i64 0
  %t136 = extractelement <2 x i32> %e10_26, i64 1
  %e11_1 = icmp eq i32 %t136, 4294967295
  %e11_2 = icmp ne i32 %t135, 4294967295
  %e11_3 = fcmp olt float %t133, %t134
  %e11_4 = fcmp une float %t133, %t133
  %e11_5 = fcmp une float %t134, %t134
  %e11_6 = xor i1 %e11_5, true
  %e11_7 = and i1 %e11_4, %e11_6
  %e11_8 = or i1 %e11_3, %e11_7
  %e11_9 = fcmp une float %t134, %t134
  %e11_10 = fcmp une float %t133, %t133
  %e11_11 = xor i1 %e11_10, true
  %e11_12 = and i1 %e11_9, %e11_11
  %e11_13 = xor i1 %e11_12, true
  %e11_14 = and i1 %e11_8, %e11_13
  %e11_15 = fcmp oeq float %t133, %t134
  %e11_16 = fcmp une float %t133, %t133
  %e11_17 = fcmp une float %t134, %t134
  %e11_18 = and i1 %e11_16, %e11_17
  %e11_19 = or i1 %e11_15, %e11_18
  %e11_20 = icmp ult i32 %t135, %t136
  %e11_21 = and i1 %e11_19, %e11_20
  %e11_22 = or i1 %e11_14, %e11_21
  %e11_23 = and i1 %e11_2, %e11_22
  %e11_24 = or i1 %e11_1, %e11_23
  %e11_25 = select i1 %e11_24, float %t133, float %t134
  %e11_26 = select i1 %e11_24, i32 %t135, i32 %t136
  %t137 = inttoptr i64 %t8 to ptr
  store i32 %e11_26, ptr %t137, align 4
  br label %next
next:
  %r2 = add i64 %r, 1
  %t138 = icmp uge i64 %r2, %hi
  br i1 %t138, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 11)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
