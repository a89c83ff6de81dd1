target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i64 @llvm.ctlz.i64(i64, i1)
define ptx_kernel void @short_sum(ptr %params, i64 %total) #0 {
entry:
  %lev = alloca i8, i64 256, align 8
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t6 = zext i32 %t5 to i64
  %t7 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t7
  %t8 = getelementptr i64, ptr %params, i64 9
  %t9 = load i64, ptr %t8, align 8
  %t10 = getelementptr i64, ptr %params, i64 10
  %t11 = load i64, ptr %t10, align 8
  %t12 = mul i64 %t6, %t4
  %t13 = add i64 %t12, %t2
  %t14 = sub i64 %total, 1
  %t15 = icmp slt i64 %t13, %t14
  %t16 = select i1 %t15, i64 %t13, i64 %t14
  %t17 = udiv i64 %t16, %n
  %t18 = mul i64 %t17, %n
  %t19 = sub i64 %t16, %t18
  %t20 = getelementptr i64, ptr %params, i64 7
  %t21 = load i64, ptr %t20, align 8
  %t22 = getelementptr i64, ptr %params, i64 8
  %t23 = load i64, ptr %t22, align 8
  %t24 = getelementptr i64, ptr %params, i64 1
  %t25 = load i64, ptr %t24, align 8
  br label %dp26
dp26:
  br label %dh27
dh27:
  %dh27d = phi i64 [%t25, %dp26], [%dh27dn, %db28]
  %dh27r = phi i64 [%t17, %dp26], [%dh27rn, %db28]
  %dh27a0 = phi i64 [%t21, %dp26], [%dh27a0n, %db28]
  %dh27a1 = phi i64 [%t23, %dp26], [%dh27a1n, %db28]
  %t30 = icmp eq i64 %dh27d, 0
  br i1 %t30, label %dd29, label %db28
db28:
  %dh27dn = sub i64 %dh27d, 1
  %t31 = mul i64 %dh27dn, 3
  %t32 = add i64 %t31, 13
  %t33 = getelementptr i64, ptr %params, i64 %t32
  %t34 = load i64, ptr %t33, align 8
  %dh27rn = udiv i64 %dh27r, %t34
  %t35 = mul i64 %dh27rn, %t34
  %t36 = sub i64 %dh27r, %t35
  %t37 = add i64 %t32, 1
  %t38 = getelementptr i64, ptr %params, i64 %t37
  %t39 = load i64, ptr %t38, align 8
  %t40 = mul i64 %t36, %t39
  %dh27a0n = add i64 %dh27a0, %t40
  %t41 = add i64 %t32, 2
  %t42 = getelementptr i64, ptr %params, i64 %t41
  %t43 = load i64, ptr %t42, align 8
  %t44 = mul i64 %t36, %t43
  %dh27a1n = add i64 %dh27a1, %t44
  br label %dh27
dd29:
  %t45 = mul i64 %t19, %t9
  %t46 = add i64 %dh27a0, %t45
  %t47 = mul i64 %t19, %t11
  %t48 = add i64 %dh27a1, %t47
  %t49 = getelementptr i64, ptr %params, i64 11
  %t50 = load i64, ptr %t49, align 8
  %t51 = getelementptr i64, ptr %params, i64 2
  %t52 = load i64, ptr %t51, align 8
  %t53 = sub i64 %t52, 1
  %t54 = getelementptr i64, ptr %params, i64 2
  %t55 = load i64, ptr %t54, align 8
  %t56 = sub i64 %t55, 1
  %t57 = call i64 @llvm.ctlz.i64(i64 %t56, i1 false)
  %t58 = lshr i64 9223372036854775808, %t57
  br label %lp59
lp59:
  br label %lh60
lh60:
  %lh60i = phi i64 [0, %lp59], [%lh60in, %ll62]
  %t64 = icmp slt i64 %lh60i, %t58
  br i1 %t64, label %lb61, label %ld63
lb61:
  %t65 = add i64 %lh60i, %t58
  %t66 = icmp slt i64 %lh60i, %t53
  %t67 = select i1 %t66, i64 %lh60i, i64 %t53
  %t68 = icmp slt i64 %t65, %t53
  %t69 = select i1 %t68, i64 %t65, i64 %t53
  %t70 = mul i64 %t67, %t50
  %t71 = add i64 %t46, %t70
  %t72 = inttoptr i64 %t71 to ptr addrspace(1)
  %t73 = addrspacecast ptr addrspace(1) %t72 to ptr
  %e2_1 = load float, ptr %t73, align 4
  %t74 = mul i64 %t69, %t50
  %t75 = add i64 %t46, %t74
  %t76 = inttoptr i64 %t75 to ptr addrspace(1)
  %t77 = addrspacecast ptr addrspace(1) %t76 to ptr
  %e3_1 = load float, ptr %t77, align 4
  %t78 = icmp slt i64 %t65, %t55
  %t79 = select i1 %t78, float %e3_1, float 0x8000000000000000
  %e6_1 = fadd float %e2_1, %t79
  %t80 = mul i64 %lh60i, 8
  %t81 = add i64 %t80, 0
  %t82 = getelementptr i8, ptr %lev, i64 %t81
  store float %e6_1, ptr %t82, align 8
  br label %ll62
ll62:
  %lh60in = add i64 %lh60i, 1
  br label %lh60
ld63:
  br label %sp83
sp83:
  br label %sh84
sh84:
  %sh84s = phi i64 [%t58, %sp83], [%sh84sn, %sl86]
  %sh84sn = lshr i64 %sh84s, 1
  %t88 = icmp ne i64 %sh84sn, 0
  br i1 %t88, label %sb87, label %sd85
sb87:
  br label %lp89
lp89:
  br label %lh90
lh90:
  %lh90i = phi i64 [0, %lp89], [%lh90in, %ll92]
  %t94 = icmp slt i64 %lh90i, %sh84sn
  br i1 %t94, label %lb91, label %ld93
lb91:
  %t95 = mul i64 %lh90i, 8
  %t96 = add i64 %t95, 0
  %t97 = getelementptr i8, ptr %lev, i64 %t96
  %t98 = load float, ptr %t97, align 8
  %t99 = add i64 %lh90i, %sh84sn
  %t100 = mul i64 %t99, 8
  %t101 = add i64 %t100, 0
  %t102 = getelementptr i8, ptr %lev, i64 %t101
  %t103 = load float, ptr %t102, align 8
  %e7_1 = fadd float %t98, %t103
  %t104 = mul i64 %lh90i, 8
  %t105 = add i64 %t104, 0
  %t106 = getelementptr i8, ptr %lev, i64 %t105
  store float %e7_1, ptr %t106, align 8
  br label %ll92
ll92:
  %lh90in = add i64 %lh90i, 1
  br label %lh90
ld93:
  br label %sl86
sl86:
  br label %sh84
sd85:
  %t107 = mul i64 0, 8
  %t108 = add i64 %t107, 0
  %t109 = getelementptr i8, ptr %lev, i64 %t108
  %t110 = load float, ptr %t109, align 8
  %t111 = icmp ult i64 %t13, %total
  br i1 %t111, label %put112, label %puts113
put112:
  %t114 = inttoptr i64 %t48 to ptr addrspace(1)
  %t115 = addrspacecast ptr addrspace(1) %t114 to ptr
  store float %t110, ptr %t115, align 4
  br label %puts113
puts113:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="256" }
