; kernel row width 64
;   %0 = in.v:float32
;   %1 = out.v:float32
;   %2 = sum %0 :float32 O
;   %3 = divide %0 %2 :float32 F
;   store %3 -> %1
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
  %t4 = getelementptr i64, ptr %params, i64 10
  %t5 = load i64, ptr %t4, align 8
  %t6 = icmp eq i64 %t3, 4
  %t7 = icmp eq i64 %t5, 4
  %t8 = and i1 %t6, %t7
  call void @ev_decode(ptr %params, i64 %lo, ptr %idx, ptr %base, i64 2, i64 11)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%lo, %pre], [%r2, %again]
  %t9 = getelementptr i64, ptr %base, i64 0
  %t10 = load i64, ptr %t9, align 8
  %t11 = getelementptr i64, ptr %base, i64 1
  %t12 = load i64, ptr %t11, align 8
  %t13 = sub i64 %n, 0
  %t14 = add i64 %t13, 63
  %t15 = udiv i64 %t14, 64
  %t16 = or i64 %t15, 1
  %t17 = call i64 @llvm.ctlz.i64(i64 %t16, i1 true)
  %t18 = sub i64 63, %t17
  %t19 = lshr i64 %t18, 2
  br label %rstp23
rstp23:
  br label %rst20
rst20:
  %rst20k = phi i64 [1, %rstp23], [%rst20kn, %rstb21]
  %t24 = icmp ule i64 %rst20k, %t19
  br i1 %t24, label %rstb21, label %rstd22
rstb21:
  %t25 = mul i64 %rst20k, 512
  %t26 = add i64 %t25, 0
  %t27 = getelementptr i8, ptr %lev, i64 %t26
  store <64 x float> splat (float 0x8000000000000000), ptr %t27, align 8
  %rst20kn = add i64 %rst20k, 1
  br label %rst20
rstd22:
  br label %ppre28
ppre28:
  br label %phead29
phead29:
  %phead29i = phi i64 [0, %ppre28], [%phead29in, %platch30]
  %phead29a0 = phi <64 x float> [splat (float 0x8000000000000000), %ppre28], [%t84, %platch30]
  %t32 = add i64 %phead29i, 64
  %t33 = icmp ule i64 %t32, %n
  %t34 = and i1 %t33, %t8
  br i1 %t34, label %dir35, label %slow36
dir35:
  %t38 = mul i64 %phead29i, 4
  %t39 = add i64 %t10, %t38
  %t40 = inttoptr i64 %t39 to ptr
  br label %body37
slow36:
  %t41 = sub i64 %n, %phead29i
  %t42 = icmp ult i64 %t41, 64
  %t43 = select i1 %t42, i64 %t41, i64 64
  %t44 = mul i64 %phead29i, %t3
  %t45 = add i64 %t10, %t44
  %t46 = inttoptr i64 %t45 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t46, i64 %t3, i64 %t43)
  br label %body37
body37:
  %t47 = phi i64 [64, %dir35], [%t43, %slow36]
  %t48 = phi ptr [%t40, %dir35], [%buf0, %slow36]
  %e1_1 = load <64 x float>, ptr %t48, align 4
  br label %lift51
lift51:
  br i1 %t34, label %join50, label %mask49
mask49:
  %t52 = trunc i64 %t47 to i32
  %e2_1 = insertelement <64 x i32> poison, i32 %t52, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %t53 = icmp ult <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>, %e2_2
  %t54 = select <64 x i1> %t53, <64 x float> %e1_1, <64 x float> splat (float 0x8000000000000000)
  br label %join50
join50:
  %t55 = phi <64 x float> [%e1_1, %lift51], [%t54, %mask49]
  %e3_1 = fadd <64 x float> %phead29a0, %t55
  br label %platch30p
platch30p:
  %t56 = sub i64 %phead29i, 0
  %t57 = udiv i64 %t56, 64
  %t58 = add i64 %t57, 1
  %t59 = and i64 %t58, 15
  %t60 = icmp eq i64 %t59, 0
  br i1 %t60, label %push61, label %platch30
push61:
  %t62 = lshr i64 %t58, 4
  br label %psp64
psp64:
  br label %psh65
psh65:
  %psh65k = phi i64 [1, %psp64], [%psh65kn, %psm66]
  %psh65c0 = phi <64 x float> [%e3_1, %psp64], [%e4_1, %psm66]
  %t67 = mul i64 %psh65k, 512
  %t68 = add i64 %t67, 0
  %t69 = getelementptr i8, ptr %lev, i64 %t68
  %t70 = load <64 x float>, ptr %t69, align 8
  %e4_1 = fadd <64 x float> %t70, %psh65c0
  %t71 = sub i64 %psh65k, 0
  %t72 = shl i64 %t71, 2
  %t73 = shl i64 1, %t72
  %t74 = sub i64 %t73, 1
  %t75 = and i64 %t62, %t74
  %t76 = icmp eq i64 %t75, 0
  br i1 %t76, label %psm66, label %psk77
psm66:
  %t78 = mul i64 %psh65k, 512
  %t79 = add i64 %t78, 0
  %t80 = getelementptr i8, ptr %lev, i64 %t79
  store <64 x float> splat (float 0x8000000000000000), ptr %t80, align 8
  %psh65kn = add i64 %psh65k, 1
  br label %psh65
psk77:
  %t81 = mul i64 %psh65k, 512
  %t82 = add i64 %t81, 0
  %t83 = getelementptr i8, ptr %lev, i64 %t82
  store <64 x float> %e4_1, ptr %t83, align 8
  br label %pushed63
pushed63:
  br label %platch30
platch30:
  %t84 = phi <64 x float> [%e3_1, %platch30p], [splat (float 0x8000000000000000), %pushed63]
  %phead29in = add i64 %phead29i, 64
  %t85 = icmp ult i64 %phead29in, %n
  br i1 %t85, label %phead29, label %pdone31
pdone31:
  br label %fdp86
fdp86:
  br label %fdh87
fdh87:
  %fdh87k = phi i64 [1, %fdp86], [%fdh87kn, %fdb88]
  %fdh87c0 = phi <64 x float> [%t84, %fdp86], [%e5_1, %fdb88]
  %t90 = icmp ule i64 %fdh87k, %t19
  br i1 %t90, label %fdb88, label %fdd89
fdb88:
  %t91 = mul i64 %fdh87k, 512
  %t92 = add i64 %t91, 0
  %t93 = getelementptr i8, ptr %lev, i64 %t92
  %t94 = load <64 x float>, ptr %t93, align 8
  %e5_1 = fadd <64 x float> %t94, %fdh87c0
  %fdh87kn = add i64 %fdh87k, 1
  br label %fdh87
fdd89:
  %t95 = shufflevector <64 x float> %fdh87c0, <64 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t96 = shufflevector <64 x float> %fdh87c0, <64 x float> poison, <32 x i32> <i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %e6_1 = fadd <32 x float> %t95, %t96
  %t97 = shufflevector <32 x float> %e6_1, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t98 = shufflevector <32 x float> %e6_1, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %e7_1 = fadd <16 x float> %t97, %t98
  %t99 = shufflevector <16 x float> %e7_1, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t100 = shufflevector <16 x float> %e7_1, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %e8_1 = fadd <8 x float> %t99, %t100
  %t101 = shufflevector <8 x float> %e8_1, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t102 = shufflevector <8 x float> %e8_1, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %e9_1 = fadd <4 x float> %t101, %t102
  %t103 = shufflevector <4 x float> %e9_1, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %t104 = shufflevector <4 x float> %e9_1, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %e10_1 = fadd <2 x float> %t103, %t104
  %t105 = extractelement <2 x float> %e10_1, i64 0
  %t106 = extractelement <2 x float> %e10_1, i64 1
  %e11_1 = fadd float %t105, %t106
  %e14_1 = insertelement <64 x float> poison, float %e11_1, i64 0
  %e14_2 = shufflevector <64 x float> %e14_1, <64 x float> poison, <64 x i32> zeroinitializer
  br label %ppre107
ppre107:
  br label %phead108
phead108:
  %phead108i = phi i64 [0, %ppre107], [%phead108in, %platch109]
  %t111 = add i64 %phead108i, 64
  %t112 = icmp ule i64 %t111, %n
  %t113 = and i1 %t112, %t8
  br i1 %t113, label %dir114, label %slow115
dir114:
  %t117 = mul i64 %phead108i, 4
  %t118 = add i64 %t10, %t117
  %t119 = inttoptr i64 %t118 to ptr
  %t120 = mul i64 %phead108i, 4
  %t121 = add i64 %t12, %t120
  %t122 = inttoptr i64 %t121 to ptr
  br label %body116
slow115:
  %t123 = sub i64 %n, %phead108i
  %t124 = icmp ult i64 %t123, 64
  %t125 = select i1 %t124, i64 %t123, i64 64
  %t126 = mul i64 %phead108i, %t3
  %t127 = add i64 %t10, %t126
  %t128 = inttoptr i64 %t127 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t128, i64 %t3, i64 %t125)
  br label %body116
body116:
  %t129 = phi i64 [64, %dir114], [%t125, %slow115]
  %t130 = phi ptr [%t119, %dir114], [%buf0, %slow115]
  %t131 = phi ptr [%t122, %dir114], [%buf1, %slow115]
  %e15_1 = load <64 x float>, ptr %t130, align 4
  %e15_2 = fdiv <64 x float> %e15_1, %e14_2
  store <64 x float> %e15_2, ptr %t131, align 4
  br i1 %t113, label %platch109, label %back132
back132:
  %t133 = mul i64 %phead108i, %t5
  %t134 = add i64 %t12, %t133
  %t135 = inttoptr i64 %t134 to ptr
  call void @ev_scatter4(ptr %buf1, ptr %t135, i64 %t5, i64 %t129)
  br label %platch109
platch109:
  %phead108in = add i64 %phead108i, 64
  %t136 = icmp ult i64 %phead108in, %n
  br i1 %t136, label %phead108, label %pdone110
pdone110:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t137 = icmp uge i64 %r2, %hi
  br i1 %t137, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 11)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
