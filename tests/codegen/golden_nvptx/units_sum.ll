target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @units_sum(ptr %params, i64 %total) #0 {
entry:
  %lev = alloca i8, i64 80, align 8
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t6 = zext i32 %t5 to i64
  %shared = addrspacecast ptr addrspace(3) @eutectic_shared to ptr
  %t7 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t7
  %t8 = getelementptr i64, ptr %params, i64 9
  %t9 = load i64, ptr %t8, align 8
  %t10 = getelementptr i64, ptr %params, i64 5
  %t11 = load i64, ptr %t10, align 8
  %t12 = udiv i64 %t6, %t11
  %t13 = mul i64 %t12, %t11
  %t14 = sub i64 %t6, %t13
  %t15 = getelementptr i64, ptr %params, i64 7
  %t16 = load i64, ptr %t15, align 8
  %t17 = getelementptr i64, ptr %params, i64 8
  %t18 = load i64, ptr %t17, align 8
  %t19 = getelementptr i64, ptr %params, i64 1
  %t20 = load i64, ptr %t19, align 8
  br label %dp21
dp21:
  br label %dh22
dh22:
  %dh22d = phi i64 [%t20, %dp21], [%dh22dn, %db23]
  %dh22r = phi i64 [%t12, %dp21], [%dh22rn, %db23]
  %dh22a0 = phi i64 [%t16, %dp21], [%dh22a0n, %db23]
  %dh22a1 = phi i64 [%t18, %dp21], [%dh22a1n, %db23]
  %t25 = icmp eq i64 %dh22d, 0
  br i1 %t25, label %dd24, label %db23
db23:
  %dh22dn = sub i64 %dh22d, 1
  %t26 = mul i64 %dh22dn, 3
  %t27 = add i64 %t26, 11
  %t28 = getelementptr i64, ptr %params, i64 %t27
  %t29 = load i64, ptr %t28, align 8
  %dh22rn = udiv i64 %dh22r, %t29
  %t30 = mul i64 %dh22rn, %t29
  %t31 = sub i64 %dh22r, %t30
  %t32 = add i64 %t27, 1
  %t33 = getelementptr i64, ptr %params, i64 %t32
  %t34 = load i64, ptr %t33, align 8
  %t35 = mul i64 %t31, %t34
  %dh22a0n = add i64 %dh22a0, %t35
  %t36 = add i64 %t27, 2
  %t37 = getelementptr i64, ptr %params, i64 %t36
  %t38 = load i64, ptr %t37, align 8
  %t39 = mul i64 %t31, %t38
  %dh22a1n = add i64 %dh22a1, %t39
  br label %dh22
dd24:
  %t40 = udiv i64 %t2, 64
  %t41 = mul i64 %t40, 64
  %t42 = sub i64 %t2, %t41
  %t43 = mul i64 %t14, 256
  %t44 = mul i64 %t43, 64
  %t45 = add i64 %t44, 16384
  %t46 = icmp slt i64 %t45, %n
  %t47 = select i1 %t46, i64 %t45, i64 %n
  %t48 = add i64 %n, 63
  %t49 = udiv i64 %t48, 64
  %t50 = sub i64 %t49, %t43
  %t51 = icmp slt i64 %t50, 256
  %t52 = select i1 %t51, i64 %t50, i64 256
  %t53 = udiv i64 %t4, 64
  %t54 = add i64 %t52, 15
  %t55 = udiv i64 %t54, 16
  %t56 = or i64 %t55, 1
  %t57 = call i64 @llvm.ctlz.i64(i64 %t56, i1 true)
  %t58 = sub i64 63, %t57
  %t59 = lshr i64 %t58, 2
  %t60 = add i64 %t59, 1
  br label %rstp64
rstp64:
  br label %rst61
rst61:
  %rst61k = phi i64 [1, %rstp64], [%rst61kn, %rstb62]
  %t65 = icmp ule i64 %rst61k, %t60
  br i1 %t65, label %rstb62, label %rstd63
rstb62:
  %t66 = mul i64 %rst61k, 8
  %t67 = add i64 %t66, 0
  %t68 = getelementptr i8, ptr %lev, i64 %t67
  store float 0x8000000000000000, ptr %t68, align 8
  %rst61kn = add i64 %rst61k, 1
  br label %rst61
rstd63:
  %t69 = icmp eq i64 %t40, 0
  br label %rp70
rp70:
  br label %rh71
rh71:
  %rh71c = phi i64 [0, %rp70], [%rh71cn, %rl73]
  %t74 = add i64 %rh71c, %t40
  %t75 = mul i64 %t74, 16
  %t76 = add i64 %t75, 16
  %t77 = icmp slt i64 %t76, %t52
  %t78 = select i1 %t77, i64 %t76, i64 %t52
  br label %cp79
cp79:
  br label %ch80
ch80:
  %ch80b = phi i64 [%t75, %cp79], [%ch80bn, %cl82]
  %ch80c0 = phi float [0x8000000000000000, %cp79], [%e13_1, %cl82]
  %t84 = icmp slt i64 %ch80b, %t78
  br i1 %t84, label %cb81, label %cd83
cb81:
  %t85 = add i64 %ch80b, 1
  %t86 = add i64 %ch80b, 2
  %t87 = add i64 %ch80b, 3
  %t88 = add i64 %ch80b, %t43
  %t89 = mul i64 %t88, 64
  %t90 = add i64 %t89, %t42
  %t91 = add i64 %t85, %t43
  %t92 = mul i64 %t91, 64
  %t93 = add i64 %t92, %t42
  %t94 = add i64 %t86, %t43
  %t95 = mul i64 %t94, 64
  %t96 = add i64 %t95, %t42
  %t97 = add i64 %t87, %t43
  %t98 = mul i64 %t97, 64
  %t99 = add i64 %t98, %t42
  %t100 = sub i64 %n, 1
  %t101 = icmp slt i64 %t90, %t100
  %t102 = select i1 %t101, i64 %t90, i64 %t100
  %t103 = sub i64 %n, 1
  %t104 = icmp slt i64 %t93, %t103
  %t105 = select i1 %t104, i64 %t93, i64 %t103
  %t106 = sub i64 %n, 1
  %t107 = icmp slt i64 %t96, %t106
  %t108 = select i1 %t107, i64 %t96, i64 %t106
  %t109 = sub i64 %n, 1
  %t110 = icmp slt i64 %t99, %t109
  %t111 = select i1 %t110, i64 %t99, i64 %t109
  %t112 = mul i64 %t102, %t9
  %t113 = add i64 %dh22a0, %t112
  %t114 = inttoptr i64 %t113 to ptr addrspace(1)
  %t115 = addrspacecast ptr addrspace(1) %t114 to ptr
  %e2_1 = load float, ptr %t115, align 4
  %t116 = mul i64 %t105, %t9
  %t117 = add i64 %dh22a0, %t116
  %t118 = inttoptr i64 %t117 to ptr addrspace(1)
  %t119 = addrspacecast ptr addrspace(1) %t118 to ptr
  %e3_1 = load float, ptr %t119, align 4
  %t120 = mul i64 %t108, %t9
  %t121 = add i64 %dh22a0, %t120
  %t122 = inttoptr i64 %t121 to ptr addrspace(1)
  %t123 = addrspacecast ptr addrspace(1) %t122 to ptr
  %e4_1 = load float, ptr %t123, align 4
  %t124 = mul i64 %t111, %t9
  %t125 = add i64 %dh22a0, %t124
  %t126 = inttoptr i64 %t125 to ptr addrspace(1)
  %t127 = addrspacecast ptr addrspace(1) %t126 to ptr
  %e5_1 = load float, ptr %t127, align 4
  %t128 = icmp slt i64 %t90, %n
  %t129 = select i1 %t128, float %e2_1, float 0x8000000000000000
  %t130 = icmp slt i64 %t93, %n
  %t131 = select i1 %t130, float %e3_1, float 0x8000000000000000
  %t132 = icmp slt i64 %t96, %n
  %t133 = select i1 %t132, float %e4_1, float 0x8000000000000000
  %t134 = icmp slt i64 %t99, %n
  %t135 = select i1 %t134, float %e5_1, float 0x8000000000000000
  %e10_1 = fadd float %ch80c0, %t129
  %t136 = icmp slt i64 %t85, %t78
  %t137 = select i1 %t136, float %t131, float 0x8000000000000000
  %e11_1 = fadd float %e10_1, %t137
  %t138 = icmp slt i64 %t86, %t78
  %t139 = select i1 %t138, float %t133, float 0x8000000000000000
  %e12_1 = fadd float %e11_1, %t139
  %t140 = icmp slt i64 %t87, %t78
  %t141 = select i1 %t140, float %t135, float 0x8000000000000000
  %e13_1 = fadd float %e12_1, %t141
  br label %cl82
cl82:
  %ch80bn = add i64 %ch80b, 4
  br label %ch80
cd83:
  %t145 = icmp eq i64 %t55, 1
  br i1 %t145, label %ro142, label %rs143
ro142:
  br label %re144
rs143:
  %t146 = mul i64 %t4, 0
  %t147 = add i64 %t146, %t2
  %t148 = mul i64 %t147, 8
  %t149 = getelementptr i8, ptr %shared, i64 %t148
  store float %ch80c0, ptr %t149, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %t69, label %rq150, label %rr151
rq150:
  %t152 = sub i64 %t55, %rh71c
  %t153 = icmp slt i64 %t152, %t53
  %t154 = select i1 %t153, i64 %t152, i64 %t53
  br label %lp155
lp155:
  br label %lh156
lh156:
  %lh156i = phi i64 [0, %lp155], [%lh156in, %ll158]
  %t160 = icmp slt i64 %lh156i, %t154
  br i1 %t160, label %lb157, label %ld159
lb157:
  %t161 = mul i64 %lh156i, 64
  %t162 = add i64 %t161, %t42
  %t163 = mul i64 %t4, 0
  %t164 = add i64 %t163, %t162
  %t165 = mul i64 %t164, 8
  %t166 = getelementptr i8, ptr %shared, i64 %t165
  %t167 = load float, ptr %t166, align 8
  %t169 = add i64 %rh71c, %lh156i
  %t170 = add i64 %t169, 1
  br label %psp171
psp171:
  br label %psh172
psh172:
  %psh172k = phi i64 [1, %psp171], [%psh172kn, %psm173]
  %psh172c0 = phi float [%t167, %psp171], [%e14_1, %psm173]
  %t174 = mul i64 %psh172k, 8
  %t175 = add i64 %t174, 0
  %t176 = getelementptr i8, ptr %lev, i64 %t175
  %t177 = load float, ptr %t176, align 8
  %e14_1 = fadd float %t177, %psh172c0
  %t178 = sub i64 %psh172k, 0
  %t179 = shl i64 %t178, 2
  %t180 = shl i64 1, %t179
  %t181 = sub i64 %t180, 1
  %t182 = and i64 %t170, %t181
  %t183 = icmp eq i64 %t182, 0
  br i1 %t183, label %psm173, label %psk184
psm173:
  %t185 = mul i64 %psh172k, 8
  %t186 = add i64 %t185, 0
  %t187 = getelementptr i8, ptr %lev, i64 %t186
  store float 0x8000000000000000, ptr %t187, align 8
  %psh172kn = add i64 %psh172k, 1
  br label %psh172
psk184:
  %t188 = mul i64 %psh172k, 8
  %t189 = add i64 %t188, 0
  %t190 = getelementptr i8, ptr %lev, i64 %t189
  store float %e14_1, ptr %t190, align 8
  br label %ra168
ra168:
  br label %ll158
ll158:
  %lh156in = add i64 %lh156i, 1
  br label %lh156
ld159:
  br label %rr151
rr151:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %rl73
rl73:
  %rh71cn = add i64 %rh71c, %t53
  %t191 = icmp ult i64 %rh71cn, %t55
  br i1 %t191, label %rh71, label %rd72
rd72:
  br label %fdp192
fdp192:
  br label %fdh193
fdh193:
  %fdh193k = phi i64 [1, %fdp192], [%fdh193kn, %fdb194]
  %fdh193c0 = phi float [0x8000000000000000, %fdp192], [%e15_1, %fdb194]
  %t196 = icmp ule i64 %fdh193k, %t60
  br i1 %t196, label %fdb194, label %fdd195
fdb194:
  %t197 = mul i64 %fdh193k, 8
  %t198 = add i64 %t197, 0
  %t199 = getelementptr i8, ptr %lev, i64 %t198
  %t200 = load float, ptr %t199, align 8
  %e15_1 = fadd float %t200, %fdh193c0
  %fdh193kn = add i64 %fdh193k, 1
  br label %fdh193
fdd195:
  br label %rf201
rf201:
  br label %re144
re144:
  %t202 = phi float [%ch80c0, %ro142], [%fdh193c0, %rf201]
  %t205 = icmp eq i64 %t40, 0
  br i1 %t205, label %save203, label %saved204
save203:
  %t206 = mul i64 %t6, 1
  %t207 = add i64 %t206, 0
  %t208 = mul i64 %t207, 64
  %t209 = add i64 %t208, %t42
  %t210 = mul i64 %t209, 8
  %t211 = getelementptr i64, ptr %params, i64 6
  %t212 = load i64, ptr %t211, align 8
  %t213 = add i64 %t212, %t210
  %t214 = inttoptr i64 %t213 to ptr addrspace(1)
  %t215 = addrspacecast ptr addrspace(1) %t214 to ptr
  store float %t202, ptr %t215, align 8
  br label %saved204
saved204:
  ret void
}
define ptx_kernel void @units_sum_finish(ptr %params, i64 %total) #0 {
entry:
  %lev = alloca i8, i64 80, align 8
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t6 = zext i32 %t5 to i64
  %shared = addrspacecast ptr addrspace(3) @eutectic_shared to ptr
  %t7 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t7
  %t8 = getelementptr i64, ptr %params, i64 9
  %t9 = load i64, ptr %t8, align 8
  %t10 = getelementptr i64, ptr %params, i64 7
  %t11 = load i64, ptr %t10, align 8
  %t12 = getelementptr i64, ptr %params, i64 8
  %t13 = load i64, ptr %t12, align 8
  %t14 = getelementptr i64, ptr %params, i64 1
  %t15 = load i64, ptr %t14, align 8
  br label %dp16
dp16:
  br label %dh17
dh17:
  %dh17d = phi i64 [%t15, %dp16], [%dh17dn, %db18]
  %dh17r = phi i64 [%t6, %dp16], [%dh17rn, %db18]
  %dh17a0 = phi i64 [%t11, %dp16], [%dh17a0n, %db18]
  %dh17a1 = phi i64 [%t13, %dp16], [%dh17a1n, %db18]
  %t20 = icmp eq i64 %dh17d, 0
  br i1 %t20, label %dd19, label %db18
db18:
  %dh17dn = sub i64 %dh17d, 1
  %t21 = mul i64 %dh17dn, 3
  %t22 = add i64 %t21, 11
  %t23 = getelementptr i64, ptr %params, i64 %t22
  %t24 = load i64, ptr %t23, align 8
  %dh17rn = udiv i64 %dh17r, %t24
  %t25 = mul i64 %dh17rn, %t24
  %t26 = sub i64 %dh17r, %t25
  %t27 = add i64 %t22, 1
  %t28 = getelementptr i64, ptr %params, i64 %t27
  %t29 = load i64, ptr %t28, align 8
  %t30 = mul i64 %t26, %t29
  %dh17a0n = add i64 %dh17a0, %t30
  %t31 = add i64 %t22, 2
  %t32 = getelementptr i64, ptr %params, i64 %t31
  %t33 = load i64, ptr %t32, align 8
  %t34 = mul i64 %t26, %t33
  %dh17a1n = add i64 %dh17a1, %t34
  br label %dh17
dd19:
  %t35 = udiv i64 %t2, 64
  %t36 = mul i64 %t35, 64
  %t37 = sub i64 %t2, %t36
  %t38 = getelementptr i64, ptr %params, i64 5
  %t39 = load i64, ptr %t38, align 8
  %t40 = mul i64 %t6, %t39
  %t41 = sub i64 %t39, 1
  %t42 = udiv i64 %t4, 64
  %t43 = add i64 %t39, 15
  %t44 = udiv i64 %t43, 16
  %t45 = or i64 %t44, 1
  %t46 = call i64 @llvm.ctlz.i64(i64 %t45, i1 true)
  %t47 = sub i64 63, %t46
  %t48 = lshr i64 %t47, 2
  %t49 = add i64 %t48, 1
  br label %rstp53
rstp53:
  br label %rst50
rst50:
  %rst50k = phi i64 [1, %rstp53], [%rst50kn, %rstb51]
  %t54 = icmp ule i64 %rst50k, %t49
  br i1 %t54, label %rstb51, label %rstd52
rstb51:
  %t55 = mul i64 %rst50k, 8
  %t56 = add i64 %t55, 0
  %t57 = getelementptr i8, ptr %lev, i64 %t56
  store float 0x8000000000000000, ptr %t57, align 8
  %rst50kn = add i64 %rst50k, 1
  br label %rst50
rstd52:
  %t58 = icmp eq i64 %t35, 0
  br label %rp59
rp59:
  br label %rh60
rh60:
  %rh60c = phi i64 [0, %rp59], [%rh60cn, %rl62]
  %t63 = add i64 %rh60c, %t35
  %t64 = mul i64 %t63, 16
  %t65 = add i64 %t64, 16
  %t66 = icmp slt i64 %t65, %t39
  %t67 = select i1 %t66, i64 %t65, i64 %t39
  br label %cp68
cp68:
  br label %ch69
ch69:
  %ch69b = phi i64 [%t64, %cp68], [%ch69bn, %cl71]
  %ch69c0 = phi float [0x8000000000000000, %cp68], [%e19_1, %cl71]
  %t73 = icmp slt i64 %ch69b, %t67
  br i1 %t73, label %cb70, label %cd72
cb70:
  %t74 = add i64 %ch69b, 1
  %t75 = add i64 %ch69b, 2
  %t76 = add i64 %ch69b, 3
  %t77 = icmp slt i64 %ch69b, %t41
  %t78 = select i1 %t77, i64 %ch69b, i64 %t41
  %t79 = add i64 %t40, %t78
  %t80 = mul i64 %t79, 1
  %t81 = add i64 %t80, 0
  %t82 = mul i64 %t81, 64
  %t83 = add i64 %t82, %t37
  %t84 = mul i64 %t83, 8
  %t85 = getelementptr i64, ptr %params, i64 6
  %t86 = load i64, ptr %t85, align 8
  %t87 = add i64 %t86, %t84
  %t88 = inttoptr i64 %t87 to ptr addrspace(1)
  %t89 = addrspacecast ptr addrspace(1) %t88 to ptr
  %t90 = load float, ptr %t89, align 8
  %t91 = icmp slt i64 %t74, %t41
  %t92 = select i1 %t91, i64 %t74, i64 %t41
  %t93 = add i64 %t40, %t92
  %t94 = mul i64 %t93, 1
  %t95 = add i64 %t94, 0
  %t96 = mul i64 %t95, 64
  %t97 = add i64 %t96, %t37
  %t98 = mul i64 %t97, 8
  %t99 = getelementptr i64, ptr %params, i64 6
  %t100 = load i64, ptr %t99, align 8
  %t101 = add i64 %t100, %t98
  %t102 = inttoptr i64 %t101 to ptr addrspace(1)
  %t103 = addrspacecast ptr addrspace(1) %t102 to ptr
  %t104 = load float, ptr %t103, align 8
  %t105 = icmp slt i64 %t75, %t41
  %t106 = select i1 %t105, i64 %t75, i64 %t41
  %t107 = add i64 %t40, %t106
  %t108 = mul i64 %t107, 1
  %t109 = add i64 %t108, 0
  %t110 = mul i64 %t109, 64
  %t111 = add i64 %t110, %t37
  %t112 = mul i64 %t111, 8
  %t113 = getelementptr i64, ptr %params, i64 6
  %t114 = load i64, ptr %t113, align 8
  %t115 = add i64 %t114, %t112
  %t116 = inttoptr i64 %t115 to ptr addrspace(1)
  %t117 = addrspacecast ptr addrspace(1) %t116 to ptr
  %t118 = load float, ptr %t117, align 8
  %t119 = icmp slt i64 %t76, %t41
  %t120 = select i1 %t119, i64 %t76, i64 %t41
  %t121 = add i64 %t40, %t120
  %t122 = mul i64 %t121, 1
  %t123 = add i64 %t122, 0
  %t124 = mul i64 %t123, 64
  %t125 = add i64 %t124, %t37
  %t126 = mul i64 %t125, 8
  %t127 = getelementptr i64, ptr %params, i64 6
  %t128 = load i64, ptr %t127, align 8
  %t129 = add i64 %t128, %t126
  %t130 = inttoptr i64 %t129 to ptr addrspace(1)
  %t131 = addrspacecast ptr addrspace(1) %t130 to ptr
  %t132 = load float, ptr %t131, align 8
  %e16_1 = fadd float %ch69c0, %t90
  %t133 = icmp slt i64 %t74, %t67
  %t134 = select i1 %t133, float %t104, float 0x8000000000000000
  %e17_1 = fadd float %e16_1, %t134
  %t135 = icmp slt i64 %t75, %t67
  %t136 = select i1 %t135, float %t118, float 0x8000000000000000
  %e18_1 = fadd float %e17_1, %t136
  %t137 = icmp slt i64 %t76, %t67
  %t138 = select i1 %t137, float %t132, float 0x8000000000000000
  %e19_1 = fadd float %e18_1, %t138
  br label %cl71
cl71:
  %ch69bn = add i64 %ch69b, 4
  br label %ch69
cd72:
  %t142 = icmp eq i64 %t44, 1
  br i1 %t142, label %ro139, label %rs140
ro139:
  br label %re141
rs140:
  %t143 = mul i64 %t4, 0
  %t144 = add i64 %t143, %t2
  %t145 = mul i64 %t144, 8
  %t146 = getelementptr i8, ptr %shared, i64 %t145
  store float %ch69c0, ptr %t146, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %t58, label %rq147, label %rr148
rq147:
  %t149 = sub i64 %t44, %rh60c
  %t150 = icmp slt i64 %t149, %t42
  %t151 = select i1 %t150, i64 %t149, i64 %t42
  br label %lp152
lp152:
  br label %lh153
lh153:
  %lh153i = phi i64 [0, %lp152], [%lh153in, %ll155]
  %t157 = icmp slt i64 %lh153i, %t151
  br i1 %t157, label %lb154, label %ld156
lb154:
  %t158 = mul i64 %lh153i, 64
  %t159 = add i64 %t158, %t37
  %t160 = mul i64 %t4, 0
  %t161 = add i64 %t160, %t159
  %t162 = mul i64 %t161, 8
  %t163 = getelementptr i8, ptr %shared, i64 %t162
  %t164 = load float, ptr %t163, align 8
  %t166 = add i64 %rh60c, %lh153i
  %t167 = add i64 %t166, 1
  br label %psp168
psp168:
  br label %psh169
psh169:
  %psh169k = phi i64 [1, %psp168], [%psh169kn, %psm170]
  %psh169c0 = phi float [%t164, %psp168], [%e20_1, %psm170]
  %t171 = mul i64 %psh169k, 8
  %t172 = add i64 %t171, 0
  %t173 = getelementptr i8, ptr %lev, i64 %t172
  %t174 = load float, ptr %t173, align 8
  %e20_1 = fadd float %t174, %psh169c0
  %t175 = sub i64 %psh169k, 0
  %t176 = shl i64 %t175, 2
  %t177 = shl i64 1, %t176
  %t178 = sub i64 %t177, 1
  %t179 = and i64 %t167, %t178
  %t180 = icmp eq i64 %t179, 0
  br i1 %t180, label %psm170, label %psk181
psm170:
  %t182 = mul i64 %psh169k, 8
  %t183 = add i64 %t182, 0
  %t184 = getelementptr i8, ptr %lev, i64 %t183
  store float 0x8000000000000000, ptr %t184, align 8
  %psh169kn = add i64 %psh169k, 1
  br label %psh169
psk181:
  %t185 = mul i64 %psh169k, 8
  %t186 = add i64 %t185, 0
  %t187 = getelementptr i8, ptr %lev, i64 %t186
  store float %e20_1, ptr %t187, align 8
  br label %ra165
ra165:
  br label %ll155
ll155:
  %lh153in = add i64 %lh153i, 1
  br label %lh153
ld156:
  br label %rr148
rr148:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %rl62
rl62:
  %rh60cn = add i64 %rh60c, %t42
  %t188 = icmp ult i64 %rh60cn, %t44
  br i1 %t188, label %rh60, label %rd61
rd61:
  br label %fdp189
fdp189:
  br label %fdh190
fdh190:
  %fdh190k = phi i64 [1, %fdp189], [%fdh190kn, %fdb191]
  %fdh190c0 = phi float [0x8000000000000000, %fdp189], [%e21_1, %fdb191]
  %t193 = icmp ule i64 %fdh190k, %t49
  br i1 %t193, label %fdb191, label %fdd192
fdb191:
  %t194 = mul i64 %fdh190k, 8
  %t195 = add i64 %t194, 0
  %t196 = getelementptr i8, ptr %lev, i64 %t195
  %t197 = load float, ptr %t196, align 8
  %e21_1 = fadd float %t197, %fdh190c0
  %fdh190kn = add i64 %fdh190k, 1
  br label %fdh190
fdd192:
  br label %rf198
rf198:
  br label %re141
re141:
  %t199 = phi float [%ch69c0, %ro139], [%fdh190c0, %rf198]
  %t200 = mul i64 %t4, 0
  %t201 = add i64 %t200, %t2
  %t202 = mul i64 %t201, 8
  %t203 = getelementptr i8, ptr %shared, i64 %t202
  store float %t199, ptr %t203, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t206 = icmp ult i64 %t2, 32
  br i1 %t206, label %tree204, label %meet205
tree204:
  %t207 = add i64 %t2, 32
  %t208 = mul i64 %t4, 0
  %t209 = add i64 %t208, %t207
  %t210 = mul i64 %t209, 8
  %t211 = getelementptr i8, ptr %shared, i64 %t210
  %t212 = load float, ptr %t211, align 8
  %e22_1 = fadd float %t199, %t212
  %t213 = bitcast float %e22_1 to i32
  %t214 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t213, i32 16, i32 31)
  %t215 = bitcast i32 %t214 to float
  %e23_1 = fadd float %e22_1, %t215
  %t216 = bitcast float %e23_1 to i32
  %t217 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t216, i32 8, i32 31)
  %t218 = bitcast i32 %t217 to float
  %e24_1 = fadd float %e23_1, %t218
  %t219 = bitcast float %e24_1 to i32
  %t220 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t219, i32 4, i32 31)
  %t221 = bitcast i32 %t220 to float
  %e25_1 = fadd float %e24_1, %t221
  %t222 = bitcast float %e25_1 to i32
  %t223 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t222, i32 2, i32 31)
  %t224 = bitcast i32 %t223 to float
  %e26_1 = fadd float %e25_1, %t224
  %t225 = bitcast float %e26_1 to i32
  %t226 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t225, i32 1, i32 31)
  %t227 = bitcast i32 %t226 to float
  %e27_1 = fadd float %e26_1, %t227
  %t228 = mul i64 %t4, 0
  %t229 = add i64 %t228, %t2
  %t230 = mul i64 %t229, 8
  %t231 = getelementptr i8, ptr %shared, i64 %t230
  store float %e27_1, ptr %t231, align 8
  br label %meet205
meet205:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t232 = mul i64 %t4, 0
  %t233 = add i64 %t232, 0
  %t234 = mul i64 %t233, 8
  %t235 = getelementptr i8, ptr %shared, i64 %t234
  %t236 = load float, ptr %t235, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t239 = icmp eq i64 %t2, 0
  br i1 %t239, label %end237, label %ends238
end237:
  %t240 = inttoptr i64 %dh17a1 to ptr addrspace(1)
  %t241 = addrspacecast ptr addrspace(1) %t240 to ptr
  store float %t236, ptr %t241, align 4
  br label %ends238
ends238:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="1024" }
