; kernel map width 64
;   %0 = in.v:float32
;   %1 = in.v:float32
;   %2 = in.v:float32
;   %3 = in.v:float32
;   %4 = in.v:float32
;   %5 = in.v:float32
;   %6 = in.v:float32
;   %7 = in.v:float32
;   %8 = out.v:float32
;   %9 = scalar:float32
;   %10 = add %9 %7 :float32 F
;   %11 = add %10 %6 :float32 F
;   %12 = add %11 %5 :float32 F
;   %13 = add %12 %4 :float32 F
;   %14 = add %13 %3 :float32 F
;   %15 = add %14 %2 :float32 F
;   %16 = add %15 %1 :float32 F
;   %17 = add %16 %0 :float32 F
;   store %17 -> %8
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 9, align 8
  %buf0 = alloca i8, i64 256, align 64
  %buf1 = alloca i8, i64 256, align 64
  %buf2 = alloca i8, i64 256, align 64
  %buf3 = alloca i8, i64 256, align 64
  %buf4 = alloca i8, i64 256, align 64
  %buf5 = alloca i8, i64 256, align 64
  %buf6 = alloca i8, i64 256, align 64
  %buf7 = alloca i8, i64 256, align 64
  %buf8 = alloca i8, i64 256, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 16
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = bitcast i32 %t4 to float
  %t6 = getelementptr i64, ptr %params, i64 17
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 18
  %t9 = load i64, ptr %t8, align 8
  %t10 = getelementptr i64, ptr %params, i64 19
  %t11 = load i64, ptr %t10, align 8
  %t12 = getelementptr i64, ptr %params, i64 20
  %t13 = load i64, ptr %t12, align 8
  %t14 = getelementptr i64, ptr %params, i64 21
  %t15 = load i64, ptr %t14, align 8
  %t16 = getelementptr i64, ptr %params, i64 22
  %t17 = load i64, ptr %t16, align 8
  %t18 = getelementptr i64, ptr %params, i64 23
  %t19 = load i64, ptr %t18, align 8
  %t20 = getelementptr i64, ptr %params, i64 24
  %t21 = load i64, ptr %t20, align 8
  %t22 = getelementptr i64, ptr %params, i64 25
  %t23 = load i64, ptr %t22, align 8
  %t24 = icmp eq i64 %t7, 4
  %t25 = icmp eq i64 %t9, 4
  %t26 = icmp eq i64 %t11, 4
  %t27 = icmp eq i64 %t13, 4
  %t28 = icmp eq i64 %t15, 4
  %t29 = icmp eq i64 %t17, 4
  %t30 = icmp eq i64 %t19, 4
  %t31 = icmp eq i64 %t21, 4
  %t32 = icmp eq i64 %t23, 4
  %t33 = and i1 %t24, %t25
  %t34 = and i1 %t33, %t26
  %t35 = and i1 %t34, %t27
  %t36 = and i1 %t35, %t28
  %t37 = and i1 %t36, %t29
  %t38 = and i1 %t37, %t30
  %t39 = and i1 %t38, %t31
  %t40 = and i1 %t39, %t32
  %at = alloca i64, align 8
  %t41 = udiv i64 %lo, %n
  %t42 = mul i64 %t41, %n
  %t43 = sub i64 %lo, %t42
  %t44 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t41, ptr %idx, ptr %base, i64 9, i64 26)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t41, %pre], [%r2, %again]
  %start = phi i64 [%t43, %pre], [0, %again]
  %left = phi i64 [%t44, %pre], [%left2, %again]
  %t45 = sub i64 %n, %start
  %t46 = icmp ult i64 %t45, %left
  %t47 = select i1 %t46, i64 %t45, i64 %left
  %t48 = add i64 %start, %t47
  %left2 = sub i64 %left, %t47
  %t49 = getelementptr i64, ptr %base, i64 0
  %t50 = load i64, ptr %t49, align 8
  %t51 = getelementptr i64, ptr %base, i64 1
  %t52 = load i64, ptr %t51, align 8
  %t53 = getelementptr i64, ptr %base, i64 2
  %t54 = load i64, ptr %t53, align 8
  %t55 = getelementptr i64, ptr %base, i64 3
  %t56 = load i64, ptr %t55, align 8
  %t57 = getelementptr i64, ptr %base, i64 4
  %t58 = load i64, ptr %t57, align 8
  %t59 = getelementptr i64, ptr %base, i64 5
  %t60 = load i64, ptr %t59, align 8
  %t61 = getelementptr i64, ptr %base, i64 6
  %t62 = load i64, ptr %t61, align 8
  %t63 = getelementptr i64, ptr %base, i64 7
  %t64 = load i64, ptr %t63, align 8
  %t65 = getelementptr i64, ptr %base, i64 8
  %t66 = load i64, ptr %t65, align 8
  %e2_1 = insertelement <64 x float> poison, float %t5, i64 0
  %e2_2 = shufflevector <64 x float> %e2_1, <64 x float> poison, <64 x i32> zeroinitializer
  br label %ppre67
ppre67:
  br label %phead68
phead68:
  %phead68i = phi i64 [%start, %ppre67], [%phead68in, %platch69]
  store i64 %phead68i, ptr %at, align 8
  %t71 = load i64, ptr %at, align 8
  %t72 = add i64 %t71, 64
  %t73 = icmp ule i64 %t72, %t48
  %t74 = and i1 %t73, %t40
  br i1 %t74, label %dir75, label %slow76
dir75:
  %t78 = mul i64 %t71, 4
  %t79 = add i64 %t50, %t78
  %t80 = inttoptr i64 %t79 to ptr
  %t81 = mul i64 %t71, 4
  %t82 = add i64 %t52, %t81
  %t83 = inttoptr i64 %t82 to ptr
  %t84 = mul i64 %t71, 4
  %t85 = add i64 %t54, %t84
  %t86 = inttoptr i64 %t85 to ptr
  %t87 = mul i64 %t71, 4
  %t88 = add i64 %t56, %t87
  %t89 = inttoptr i64 %t88 to ptr
  %t90 = mul i64 %t71, 4
  %t91 = add i64 %t58, %t90
  %t92 = inttoptr i64 %t91 to ptr
  %t93 = mul i64 %t71, 4
  %t94 = add i64 %t60, %t93
  %t95 = inttoptr i64 %t94 to ptr
  %t96 = mul i64 %t71, 4
  %t97 = add i64 %t62, %t96
  %t98 = inttoptr i64 %t97 to ptr
  %t99 = mul i64 %t71, 4
  %t100 = add i64 %t64, %t99
  %t101 = inttoptr i64 %t100 to ptr
  %t102 = mul i64 %t71, 4
  %t103 = add i64 %t66, %t102
  %t104 = inttoptr i64 %t103 to ptr
  br label %body77
slow76:
  %t105 = sub i64 %t48, %t71
  %t106 = icmp ult i64 %t105, 64
  %t107 = select i1 %t106, i64 %t105, i64 64
  %t108 = mul i64 %t71, %t7
  %t109 = add i64 %t50, %t108
  %t110 = inttoptr i64 %t109 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t110, i64 %t7, i64 %t107)
  %t111 = mul i64 %t71, %t9
  %t112 = add i64 %t52, %t111
  %t113 = inttoptr i64 %t112 to ptr
  call void @ev_gather4(ptr %buf1, ptr %t113, i64 %t9, i64 %t107)
  %t114 = mul i64 %t71, %t11
  %t115 = add i64 %t54, %t114
  %t116 = inttoptr i64 %t115 to ptr
  call void @ev_gather4(ptr %buf2, ptr %t116, i64 %t11, i64 %t107)
  %t117 = mul i64 %t71, %t13
  %t118 = add i64 %t56, %t117
  %t119 = inttoptr i64 %t118 to ptr
  call void @ev_gather4(ptr %buf3, ptr %t119, i64 %t13, i64 %t107)
  %t120 = mul i64 %t71, %t15
  %t121 = add i64 %t58, %t120
  %t122 = inttoptr i64 %t121 to ptr
  call void @ev_gather4(ptr %buf4, ptr %t122, i64 %t15, i64 %t107)
  %t123 = mul i64 %t71, %t17
  %t124 = add i64 %t60, %t123
  %t125 = inttoptr i64 %t124 to ptr
  call void @ev_gather4(ptr %buf5, ptr %t125, i64 %t17, i64 %t107)
  %t126 = mul i64 %t71, %t19
  %t127 = add i64 %t62, %t126
  %t128 = inttoptr i64 %t127 to ptr
  call void @ev_gather4(ptr %buf6, ptr %t128, i64 %t19, i64 %t107)
  %t129 = mul i64 %t71, %t21
  %t130 = add i64 %t64, %t129
  %t131 = inttoptr i64 %t130 to ptr
  call void @ev_gather4(ptr %buf7, ptr %t131, i64 %t21, i64 %t107)
  br label %body77
body77:
  %t132 = phi i64 [64, %dir75], [%t107, %slow76]
  %t133 = phi ptr [%t80, %dir75], [%buf0, %slow76]
  %t134 = phi ptr [%t83, %dir75], [%buf1, %slow76]
  %t135 = phi ptr [%t86, %dir75], [%buf2, %slow76]
  %t136 = phi ptr [%t89, %dir75], [%buf3, %slow76]
  %t137 = phi ptr [%t92, %dir75], [%buf4, %slow76]
  %t138 = phi ptr [%t95, %dir75], [%buf5, %slow76]
  %t139 = phi ptr [%t98, %dir75], [%buf6, %slow76]
  %t140 = phi ptr [%t101, %dir75], [%buf7, %slow76]
  %t141 = phi ptr [%t104, %dir75], [%buf8, %slow76]
  %e3_1 = load <64 x float>, ptr %t133, align 4
  %e3_2 = load <64 x float>, ptr %t134, align 4
  %e3_3 = load <64 x float>, ptr %t135, align 4
  %e3_4 = load <64 x float>, ptr %t136, align 4
  %e3_5 = load <64 x float>, ptr %t137, align 4
  %e3_6 = load <64 x float>, ptr %t138, align 4
  %e3_7 = load <64 x float>, ptr %t139, align 4
  %e3_8 = load <64 x float>, ptr %t140, align 4
  %e3_9 = fadd <64 x float> %e2_2, %e3_8
  %e3_10 = fadd <64 x float> %e3_9, %e3_7
  %e3_11 = fadd <64 x float> %e3_10, %e3_6
  %e3_12 = fadd <64 x float> %e3_11, %e3_5
  %e3_13 = fadd <64 x float> %e3_12, %e3_4
  %e3_14 = fadd <64 x float> %e3_13, %e3_3
  %e3_15 = fadd <64 x float> %e3_14, %e3_2
  %e3_16 = fadd <64 x float> %e3_15, %e3_1
  store <64 x float> %e3_16, ptr %t141, align 4
  br i1 %t74, label %platch69, label %back142
back142:
  %t143 = mul i64 %t71, %t23
  %t144 = add i64 %t66, %t143
  %t145 = inttoptr i64 %t144 to ptr
  call void @ev_scatter4(ptr %buf8, ptr %t145, i64 %t23, i64 %t132)
  br label %platch69
platch69:
  %phead68in = add i64 %phead68i, 64
  %t146 = icmp ult i64 %phead68in, %t48
  br i1 %t146, label %phead68, label %pdone70
pdone70:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t147 = icmp eq i64 %left2, 0
  br i1 %t147, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 9, i64 26)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
