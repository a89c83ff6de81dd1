target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @col_sum_float32(ptr %params, i64 %total) #0 {
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
  %t10 = getelementptr i64, ptr %params, i64 10
  %t11 = load i64, ptr %t10, align 8
  %t12 = add i64 %n, 31
  %t13 = udiv i64 %t12, 32
  %t14 = udiv i64 %t6, %t13
  %t15 = mul i64 %t14, %t13
  %t16 = sub i64 %t6, %t15
  %t17 = udiv i64 %t2, 32
  %t18 = mul i64 %t17, 32
  %t19 = sub i64 %t2, %t18
  %t20 = mul i64 %t16, 32
  %t21 = add i64 %t20, %t19
  %t22 = sub i64 %n, 1
  %t23 = icmp slt i64 %t21, %t22
  %t24 = select i1 %t23, i64 %t21, i64 %t22
  %t25 = getelementptr i64, ptr %params, i64 7
  %t26 = load i64, ptr %t25, align 8
  %t27 = getelementptr i64, ptr %params, i64 8
  %t28 = load i64, ptr %t27, align 8
  %t29 = getelementptr i64, ptr %params, i64 1
  %t30 = load i64, ptr %t29, align 8
  br label %dp31
dp31:
  br label %dh32
dh32:
  %dh32d = phi i64 [%t30, %dp31], [%dh32dn, %db33]
  %dh32r = phi i64 [%t14, %dp31], [%dh32rn, %db33]
  %dh32a0 = phi i64 [%t26, %dp31], [%dh32a0n, %db33]
  %dh32a1 = phi i64 [%t28, %dp31], [%dh32a1n, %db33]
  %t35 = icmp eq i64 %dh32d, 0
  br i1 %t35, label %dd34, label %db33
db33:
  %dh32dn = sub i64 %dh32d, 1
  %t36 = mul i64 %dh32dn, 3
  %t37 = add i64 %t36, 13
  %t38 = getelementptr i64, ptr %params, i64 %t37
  %t39 = load i64, ptr %t38, align 8
  %dh32rn = udiv i64 %dh32r, %t39
  %t40 = mul i64 %dh32rn, %t39
  %t41 = sub i64 %dh32r, %t40
  %t42 = add i64 %t37, 1
  %t43 = getelementptr i64, ptr %params, i64 %t42
  %t44 = load i64, ptr %t43, align 8
  %t45 = mul i64 %t41, %t44
  %dh32a0n = add i64 %dh32a0, %t45
  %t46 = add i64 %t37, 2
  %t47 = getelementptr i64, ptr %params, i64 %t46
  %t48 = load i64, ptr %t47, align 8
  %t49 = mul i64 %t41, %t48
  %dh32a1n = add i64 %dh32a1, %t49
  br label %dh32
dd34:
  %t50 = mul i64 %t24, %t9
  %t51 = add i64 %dh32a0, %t50
  %t52 = mul i64 %t24, %t11
  %t53 = add i64 %dh32a1, %t52
  %t54 = getelementptr i64, ptr %params, i64 11
  %t55 = load i64, ptr %t54, align 8
  %t56 = getelementptr i64, ptr %params, i64 2
  %t57 = load i64, ptr %t56, align 8
  %t58 = sub i64 %t57, 1
  %t59 = getelementptr i64, ptr %params, i64 2
  %t60 = load i64, ptr %t59, align 8
  %t61 = udiv i64 %t4, 32
  %t62 = add i64 %t60, 15
  %t63 = udiv i64 %t62, 16
  %t64 = or i64 %t63, 1
  %t65 = call i64 @llvm.ctlz.i64(i64 %t64, i1 true)
  %t66 = sub i64 63, %t65
  %t67 = lshr i64 %t66, 2
  %t68 = add i64 %t67, 1
  br label %rstp72
rstp72:
  br label %rst69
rst69:
  %rst69k = phi i64 [1, %rstp72], [%rst69kn, %rstb70]
  %t73 = icmp ule i64 %rst69k, %t68
  br i1 %t73, label %rstb70, label %rstd71
rstb70:
  %t74 = mul i64 %rst69k, 8
  %t75 = add i64 %t74, 0
  %t76 = getelementptr i8, ptr %lev, i64 %t75
  store float 0x8000000000000000, ptr %t76, align 8
  %rst69kn = add i64 %rst69k, 1
  br label %rst69
rstd71:
  %t77 = icmp eq i64 %t17, 0
  br label %rp78
rp78:
  br label %rh79
rh79:
  %rh79c = phi i64 [0, %rp78], [%rh79cn, %rl81]
  %t82 = add i64 %rh79c, %t17
  %t83 = mul i64 %t82, 16
  %t84 = add i64 %t83, 16
  %t85 = icmp slt i64 %t84, %t60
  %t86 = select i1 %t85, i64 %t84, i64 %t60
  br label %cp87
cp87:
  br label %ch88
ch88:
  %ch88b = phi i64 [%t83, %cp87], [%ch88bn, %cl90]
  %ch88c0 = phi float [0x8000000000000000, %cp87], [%e13_1, %cl90]
  %t92 = icmp slt i64 %ch88b, %t86
  br i1 %t92, label %cb89, label %cd91
cb89:
  %t93 = add i64 %ch88b, 1
  %t94 = add i64 %ch88b, 2
  %t95 = add i64 %ch88b, 3
  %t96 = icmp slt i64 %ch88b, %t58
  %t97 = select i1 %t96, i64 %ch88b, i64 %t58
  %t98 = icmp slt i64 %t93, %t58
  %t99 = select i1 %t98, i64 %t93, i64 %t58
  %t100 = icmp slt i64 %t94, %t58
  %t101 = select i1 %t100, i64 %t94, i64 %t58
  %t102 = icmp slt i64 %t95, %t58
  %t103 = select i1 %t102, i64 %t95, i64 %t58
  %t104 = mul i64 %t97, %t55
  %t105 = add i64 %t51, %t104
  %t106 = inttoptr i64 %t105 to ptr addrspace(1)
  %t107 = addrspacecast ptr addrspace(1) %t106 to ptr
  %e2_1 = load float, ptr %t107, align 4
  %t108 = mul i64 %t99, %t55
  %t109 = add i64 %t51, %t108
  %t110 = inttoptr i64 %t109 to ptr addrspace(1)
  %t111 = addrspacecast ptr addrspace(1) %t110 to ptr
  %e3_1 = load float, ptr %t111, align 4
  %t112 = mul i64 %t101, %t55
  %t113 = add i64 %t51, %t112
  %t114 = inttoptr i64 %t113 to ptr addrspace(1)
  %t115 = addrspacecast ptr addrspace(1) %t114 to ptr
  %e4_1 = load float, ptr %t115, align 4
  %t116 = mul i64 %t103, %t55
  %t117 = add i64 %t51, %t116
  %t118 = inttoptr i64 %t117 to ptr addrspace(1)
  %t119 = addrspacecast ptr addrspace(1) %t118 to ptr
  %e5_1 = load float, ptr %t119, align 4
  %e10_1 = fadd float %ch88c0, %e2_1
  %t120 = icmp slt i64 %t93, %t86
  %t121 = select i1 %t120, float %e3_1, float 0x8000000000000000
  %e11_1 = fadd float %e10_1, %t121
  %t122 = icmp slt i64 %t94, %t86
  %t123 = select i1 %t122, float %e4_1, float 0x8000000000000000
  %e12_1 = fadd float %e11_1, %t123
  %t124 = icmp slt i64 %t95, %t86
  %t125 = select i1 %t124, float %e5_1, float 0x8000000000000000
  %e13_1 = fadd float %e12_1, %t125
  br label %cl90
cl90:
  %ch88bn = add i64 %ch88b, 4
  br label %ch88
cd91:
  %t129 = icmp eq i64 %t63, 1
  br i1 %t129, label %ro126, label %rs127
ro126:
  br label %re128
rs127:
  %t130 = mul i64 %t4, 0
  %t131 = add i64 %t130, %t2
  %t132 = mul i64 %t131, 8
  %t133 = getelementptr i8, ptr %shared, i64 %t132
  store float %ch88c0, ptr %t133, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %t77, label %rq134, label %rr135
rq134:
  %t136 = sub i64 %t63, %rh79c
  %t137 = icmp slt i64 %t136, %t61
  %t138 = select i1 %t137, i64 %t136, i64 %t61
  br label %lp139
lp139:
  br label %lh140
lh140:
  %lh140i = phi i64 [0, %lp139], [%lh140in, %ll142]
  %t144 = icmp slt i64 %lh140i, %t138
  br i1 %t144, label %lb141, label %ld143
lb141:
  %t145 = mul i64 %lh140i, 32
  %t146 = add i64 %t145, %t19
  %t147 = mul i64 %t4, 0
  %t148 = add i64 %t147, %t146
  %t149 = mul i64 %t148, 8
  %t150 = getelementptr i8, ptr %shared, i64 %t149
  %t151 = load float, ptr %t150, align 8
  %t153 = add i64 %rh79c, %lh140i
  %t154 = add i64 %t153, 1
  br label %psp155
psp155:
  br label %psh156
psh156:
  %psh156k = phi i64 [1, %psp155], [%psh156kn, %psm157]
  %psh156c0 = phi float [%t151, %psp155], [%e14_1, %psm157]
  %t158 = mul i64 %psh156k, 8
  %t159 = add i64 %t158, 0
  %t160 = getelementptr i8, ptr %lev, i64 %t159
  %t161 = load float, ptr %t160, align 8
  %e14_1 = fadd float %t161, %psh156c0
  %t162 = sub i64 %psh156k, 0
  %t163 = shl i64 %t162, 2
  %t164 = shl i64 1, %t163
  %t165 = sub i64 %t164, 1
  %t166 = and i64 %t154, %t165
  %t167 = icmp eq i64 %t166, 0
  br i1 %t167, label %psm157, label %psk168
psm157:
  %t169 = mul i64 %psh156k, 8
  %t170 = add i64 %t169, 0
  %t171 = getelementptr i8, ptr %lev, i64 %t170
  store float 0x8000000000000000, ptr %t171, align 8
  %psh156kn = add i64 %psh156k, 1
  br label %psh156
psk168:
  %t172 = mul i64 %psh156k, 8
  %t173 = add i64 %t172, 0
  %t174 = getelementptr i8, ptr %lev, i64 %t173
  store float %e14_1, ptr %t174, align 8
  br label %ra152
ra152:
  br label %ll142
ll142:
  %lh140in = add i64 %lh140i, 1
  br label %lh140
ld143:
  br label %rr135
rr135:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %rl81
rl81:
  %rh79cn = add i64 %rh79c, %t61
  %t175 = icmp ult i64 %rh79cn, %t63
  br i1 %t175, label %rh79, label %rd80
rd80:
  br label %fdp176
fdp176:
  br label %fdh177
fdh177:
  %fdh177k = phi i64 [1, %fdp176], [%fdh177kn, %fdb178]
  %fdh177c0 = phi float [0x8000000000000000, %fdp176], [%e15_1, %fdb178]
  %t180 = icmp ule i64 %fdh177k, %t68
  br i1 %t180, label %fdb178, label %fdd179
fdb178:
  %t181 = mul i64 %fdh177k, 8
  %t182 = add i64 %t181, 0
  %t183 = getelementptr i8, ptr %lev, i64 %t182
  %t184 = load float, ptr %t183, align 8
  %e15_1 = fadd float %t184, %fdh177c0
  %fdh177kn = add i64 %fdh177k, 1
  br label %fdh177
fdd179:
  br label %rf185
rf185:
  br label %re128
re128:
  %t186 = phi float [%ch88c0, %ro126], [%fdh177c0, %rf185]
  %t187 = icmp slt i64 %t21, %n
  %t188 = icmp eq i64 %t17, 0
  %t189 = and i1 %t187, %t188
  br i1 %t189, label %put190, label %puts191
put190:
  %t192 = inttoptr i64 %t53 to ptr addrspace(1)
  %t193 = addrspacecast ptr addrspace(1) %t192 to ptr
  store float %t186, ptr %t193, align 4
  br label %puts191
puts191:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="1024" }
