target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @map_float32(ptr %params, i64 %total) #0 {
entry:
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t6 = zext i32 %t5 to i64
  %t7 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t7
  %t8 = getelementptr i64, ptr %params, i64 10
  %t9 = load i64, ptr %t8, align 8
  %t10 = trunc i64 %t9 to i32
  %t11 = bitcast i32 %t10 to float
  %t12 = getelementptr i64, ptr %params, i64 11
  %t13 = load i64, ptr %t12, align 8
  %t14 = getelementptr i64, ptr %params, i64 12
  %t15 = load i64, ptr %t14, align 8
  %t16 = getelementptr i64, ptr %params, i64 13
  %t17 = load i64, ptr %t16, align 8
  %t18 = mul i64 %t4, 4
  %t19 = mul i64 %t6, %t18
  %t20 = add i64 %t19, %t2
  %t21 = mul i64 %t4, 1
  %t22 = add i64 %t20, %t21
  %t23 = mul i64 %t4, 2
  %t24 = add i64 %t20, %t23
  %t25 = mul i64 %t4, 3
  %t26 = add i64 %t20, %t25
  %t27 = sub i64 %total, 1
  %t28 = icmp slt i64 %t20, %t27
  %t29 = select i1 %t28, i64 %t20, i64 %t27
  %t30 = getelementptr i64, ptr %params, i64 7
  %t31 = load i64, ptr %t30, align 8
  %t32 = getelementptr i64, ptr %params, i64 8
  %t33 = load i64, ptr %t32, align 8
  %t34 = getelementptr i64, ptr %params, i64 9
  %t35 = load i64, ptr %t34, align 8
  %t36 = sub i64 %total, 1
  %t37 = icmp slt i64 %t22, %t36
  %t38 = select i1 %t37, i64 %t22, i64 %t36
  %t39 = getelementptr i64, ptr %params, i64 7
  %t40 = load i64, ptr %t39, align 8
  %t41 = getelementptr i64, ptr %params, i64 8
  %t42 = load i64, ptr %t41, align 8
  %t43 = getelementptr i64, ptr %params, i64 9
  %t44 = load i64, ptr %t43, align 8
  %t45 = sub i64 %total, 1
  %t46 = icmp slt i64 %t24, %t45
  %t47 = select i1 %t46, i64 %t24, i64 %t45
  %t48 = getelementptr i64, ptr %params, i64 7
  %t49 = load i64, ptr %t48, align 8
  %t50 = getelementptr i64, ptr %params, i64 8
  %t51 = load i64, ptr %t50, align 8
  %t52 = getelementptr i64, ptr %params, i64 9
  %t53 = load i64, ptr %t52, align 8
  %t54 = sub i64 %total, 1
  %t55 = icmp slt i64 %t26, %t54
  %t56 = select i1 %t55, i64 %t26, i64 %t54
  %t57 = getelementptr i64, ptr %params, i64 7
  %t58 = load i64, ptr %t57, align 8
  %t59 = getelementptr i64, ptr %params, i64 8
  %t60 = load i64, ptr %t59, align 8
  %t61 = getelementptr i64, ptr %params, i64 9
  %t62 = load i64, ptr %t61, align 8
  %t63 = mul i64 %t29, %t13
  %t64 = add i64 %t31, %t63
  %t65 = inttoptr i64 %t64 to ptr addrspace(1)
  %t66 = addrspacecast ptr addrspace(1) %t65 to ptr
  %e3_1 = load float, ptr %t66, align 4
  %t67 = mul i64 %t29, %t15
  %t68 = add i64 %t33, %t67
  %t69 = inttoptr i64 %t68 to ptr addrspace(1)
  %t70 = addrspacecast ptr addrspace(1) %t69 to ptr
  %e4_1 = load float, ptr %t70, align 4
  %t71 = mul i64 %t38, %t13
  %t72 = add i64 %t40, %t71
  %t73 = inttoptr i64 %t72 to ptr addrspace(1)
  %t74 = addrspacecast ptr addrspace(1) %t73 to ptr
  %e5_1 = load float, ptr %t74, align 4
  %t75 = mul i64 %t38, %t15
  %t76 = add i64 %t42, %t75
  %t77 = inttoptr i64 %t76 to ptr addrspace(1)
  %t78 = addrspacecast ptr addrspace(1) %t77 to ptr
  %e6_1 = load float, ptr %t78, align 4
  %t79 = mul i64 %t47, %t13
  %t80 = add i64 %t49, %t79
  %t81 = inttoptr i64 %t80 to ptr addrspace(1)
  %t82 = addrspacecast ptr addrspace(1) %t81 to ptr
  %e7_1 = load float, ptr %t82, align 4
  %t83 = mul i64 %t47, %t15
  %t84 = add i64 %t51, %t83
  %t85 = inttoptr i64 %t84 to ptr addrspace(1)
  %t86 = addrspacecast ptr addrspace(1) %t85 to ptr
  %e8_1 = load float, ptr %t86, align 4
  %t87 = mul i64 %t56, %t13
  %t88 = add i64 %t58, %t87
  %t89 = inttoptr i64 %t88 to ptr addrspace(1)
  %t90 = addrspacecast ptr addrspace(1) %t89 to ptr
  %e9_1 = load float, ptr %t90, align 4
  %t91 = mul i64 %t56, %t15
  %t92 = add i64 %t60, %t91
  %t93 = inttoptr i64 %t92 to ptr addrspace(1)
  %t94 = addrspacecast ptr addrspace(1) %t93 to ptr
  %e10_1 = load float, ptr %t94, align 4
  %e2_1 = fmul float %e4_1, %t11
  %e2_2 = fadd float %e2_1, %e3_1
  %e2_3 = fmul float %e6_1, %t11
  %e2_4 = fadd float %e2_3, %e5_1
  %e2_5 = fmul float %e8_1, %t11
  %e2_6 = fadd float %e2_5, %e7_1
  %e2_7 = fmul float %e10_1, %t11
  %e2_8 = fadd float %e2_7, %e9_1
  %t95 = mul i64 %t29, %t17
  %t96 = add i64 %t35, %t95
  %t97 = icmp ult i64 %t20, %total
  br i1 %t97, label %put98, label %puts99
put98:
  %t100 = inttoptr i64 %t96 to ptr addrspace(1)
  %t101 = addrspacecast ptr addrspace(1) %t100 to ptr
  store float %e2_2, ptr %t101, align 4
  br label %puts99
puts99:
  %t102 = mul i64 %t38, %t17
  %t103 = add i64 %t44, %t102
  %t104 = icmp ult i64 %t22, %total
  br i1 %t104, label %put105, label %puts106
put105:
  %t107 = inttoptr i64 %t103 to ptr addrspace(1)
  %t108 = addrspacecast ptr addrspace(1) %t107 to ptr
  store float %e2_4, ptr %t108, align 4
  br label %puts106
puts106:
  %t109 = mul i64 %t47, %t17
  %t110 = add i64 %t53, %t109
  %t111 = icmp ult i64 %t24, %total
  br i1 %t111, label %put112, label %puts113
put112:
  %t114 = inttoptr i64 %t110 to ptr addrspace(1)
  %t115 = addrspacecast ptr addrspace(1) %t114 to ptr
  store float %e2_6, ptr %t115, align 4
  br label %puts113
puts113:
  %t116 = mul i64 %t56, %t17
  %t117 = add i64 %t62, %t116
  %t118 = icmp ult i64 %t26, %total
  br i1 %t118, label %put119, label %puts120
put119:
  %t121 = inttoptr i64 %t117 to ptr addrspace(1)
  %t122 = addrspacecast ptr addrspace(1) %t121 to ptr
  store float %e2_8, ptr %t122, align 4
  br label %puts120
puts120:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="256" }
