target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @row_sum_float32(ptr %params, i64 %total) #0 {
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
  %t38 = add i64 %n, 63
  %t39 = udiv i64 %t38, 64
  %t40 = udiv i64 %t4, 64
  %t41 = add i64 %t39, 15
  %t42 = udiv i64 %t41, 16
  %t43 = or i64 %t42, 1
  %t44 = call i64 @llvm.ctlz.i64(i64 %t43, i1 true)
  %t45 = sub i64 63, %t44
  %t46 = lshr i64 %t45, 2
  %t47 = add i64 %t46, 1
  br label %rstp51
rstp51:
  br label %rst48
rst48:
  %rst48k = phi i64 [1, %rstp51], [%rst48kn, %rstb49]
  %t52 = icmp ule i64 %rst48k, %t47
  br i1 %t52, label %rstb49, label %rstd50
rstb49:
  %t53 = mul i64 %rst48k, 8
  %t54 = add i64 %t53, 0
  %t55 = getelementptr i8, ptr %lev, i64 %t54
  store float 0x8000000000000000, ptr %t55, align 8
  %rst48kn = add i64 %rst48k, 1
  br label %rst48
rstd50:
  %t56 = icmp eq i64 %t35, 0
  br label %rp57
rp57:
  br label %rh58
rh58:
  %rh58c = phi i64 [0, %rp57], [%rh58cn, %rl60]
  %t61 = add i64 %rh58c, %t35
  %t62 = mul i64 %t61, 16
  %t63 = add i64 %t62, 16
  %t64 = icmp slt i64 %t63, %t39
  %t65 = select i1 %t64, i64 %t63, i64 %t39
  br label %cp66
cp66:
  br label %ch67
ch67:
  %ch67b = phi i64 [%t62, %cp66], [%ch67bn, %cl69]
  %ch67c0 = phi float [0x8000000000000000, %cp66], [%e13_1, %cl69]
  %t71 = icmp slt i64 %ch67b, %t65
  br i1 %t71, label %cb68, label %cd70
cb68:
  %t72 = add i64 %ch67b, 1
  %t73 = add i64 %ch67b, 2
  %t74 = add i64 %ch67b, 3
  %t75 = add i64 %ch67b, 0
  %t76 = mul i64 %t75, 64
  %t77 = add i64 %t76, %t37
  %t78 = add i64 %t72, 0
  %t79 = mul i64 %t78, 64
  %t80 = add i64 %t79, %t37
  %t81 = add i64 %t73, 0
  %t82 = mul i64 %t81, 64
  %t83 = add i64 %t82, %t37
  %t84 = add i64 %t74, 0
  %t85 = mul i64 %t84, 64
  %t86 = add i64 %t85, %t37
  %t87 = sub i64 %n, 1
  %t88 = icmp slt i64 %t77, %t87
  %t89 = select i1 %t88, i64 %t77, i64 %t87
  %t90 = sub i64 %n, 1
  %t91 = icmp slt i64 %t80, %t90
  %t92 = select i1 %t91, i64 %t80, i64 %t90
  %t93 = sub i64 %n, 1
  %t94 = icmp slt i64 %t83, %t93
  %t95 = select i1 %t94, i64 %t83, i64 %t93
  %t96 = sub i64 %n, 1
  %t97 = icmp slt i64 %t86, %t96
  %t98 = select i1 %t97, i64 %t86, i64 %t96
  %t99 = mul i64 %t89, %t9
  %t100 = add i64 %dh17a0, %t99
  %t101 = inttoptr i64 %t100 to ptr addrspace(1)
  %t102 = addrspacecast ptr addrspace(1) %t101 to ptr
  %e2_1 = load float, ptr %t102, align 4
  %t103 = mul i64 %t92, %t9
  %t104 = add i64 %dh17a0, %t103
  %t105 = inttoptr i64 %t104 to ptr addrspace(1)
  %t106 = addrspacecast ptr addrspace(1) %t105 to ptr
  %e3_1 = load float, ptr %t106, align 4
  %t107 = mul i64 %t95, %t9
  %t108 = add i64 %dh17a0, %t107
  %t109 = inttoptr i64 %t108 to ptr addrspace(1)
  %t110 = addrspacecast ptr addrspace(1) %t109 to ptr
  %e4_1 = load float, ptr %t110, align 4
  %t111 = mul i64 %t98, %t9
  %t112 = add i64 %dh17a0, %t111
  %t113 = inttoptr i64 %t112 to ptr addrspace(1)
  %t114 = addrspacecast ptr addrspace(1) %t113 to ptr
  %e5_1 = load float, ptr %t114, align 4
  %t115 = icmp slt i64 %t77, %n
  %t116 = select i1 %t115, float %e2_1, float 0x8000000000000000
  %t117 = icmp slt i64 %t80, %n
  %t118 = select i1 %t117, float %e3_1, float 0x8000000000000000
  %t119 = icmp slt i64 %t83, %n
  %t120 = select i1 %t119, float %e4_1, float 0x8000000000000000
  %t121 = icmp slt i64 %t86, %n
  %t122 = select i1 %t121, float %e5_1, float 0x8000000000000000
  %e10_1 = fadd float %ch67c0, %t116
  %t123 = icmp slt i64 %t72, %t65
  %t124 = select i1 %t123, float %t118, float 0x8000000000000000
  %e11_1 = fadd float %e10_1, %t124
  %t125 = icmp slt i64 %t73, %t65
  %t126 = select i1 %t125, float %t120, float 0x8000000000000000
  %e12_1 = fadd float %e11_1, %t126
  %t127 = icmp slt i64 %t74, %t65
  %t128 = select i1 %t127, float %t122, float 0x8000000000000000
  %e13_1 = fadd float %e12_1, %t128
  br label %cl69
cl69:
  %ch67bn = add i64 %ch67b, 4
  br label %ch67
cd70:
  %t132 = icmp eq i64 %t42, 1
  br i1 %t132, label %ro129, label %rs130
ro129:
  br label %re131
rs130:
  %t133 = mul i64 %t4, 0
  %t134 = add i64 %t133, %t2
  %t135 = mul i64 %t134, 8
  %t136 = getelementptr i8, ptr %shared, i64 %t135
  store float %ch67c0, ptr %t136, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %t56, label %rq137, label %rr138
rq137:
  %t139 = sub i64 %t42, %rh58c
  %t140 = icmp slt i64 %t139, %t40
  %t141 = select i1 %t140, i64 %t139, i64 %t40
  br label %lp142
lp142:
  br label %lh143
lh143:
  %lh143i = phi i64 [0, %lp142], [%lh143in, %ll145]
  %t147 = icmp slt i64 %lh143i, %t141
  br i1 %t147, label %lb144, label %ld146
lb144:
  %t148 = mul i64 %lh143i, 64
  %t149 = add i64 %t148, %t37
  %t150 = mul i64 %t4, 0
  %t151 = add i64 %t150, %t149
  %t152 = mul i64 %t151, 8
  %t153 = getelementptr i8, ptr %shared, i64 %t152
  %t154 = load float, ptr %t153, align 8
  %t156 = add i64 %rh58c, %lh143i
  %t157 = add i64 %t156, 1
  br label %psp158
psp158:
  br label %psh159
psh159:
  %psh159k = phi i64 [1, %psp158], [%psh159kn, %psm160]
  %psh159c0 = phi float [%t154, %psp158], [%e14_1, %psm160]
  %t161 = mul i64 %psh159k, 8
  %t162 = add i64 %t161, 0
  %t163 = getelementptr i8, ptr %lev, i64 %t162
  %t164 = load float, ptr %t163, align 8
  %e14_1 = fadd float %t164, %psh159c0
  %t165 = sub i64 %psh159k, 0
  %t166 = shl i64 %t165, 2
  %t167 = shl i64 1, %t166
  %t168 = sub i64 %t167, 1
  %t169 = and i64 %t157, %t168
  %t170 = icmp eq i64 %t169, 0
  br i1 %t170, label %psm160, label %psk171
psm160:
  %t172 = mul i64 %psh159k, 8
  %t173 = add i64 %t172, 0
  %t174 = getelementptr i8, ptr %lev, i64 %t173
  store float 0x8000000000000000, ptr %t174, align 8
  %psh159kn = add i64 %psh159k, 1
  br label %psh159
psk171:
  %t175 = mul i64 %psh159k, 8
  %t176 = add i64 %t175, 0
  %t177 = getelementptr i8, ptr %lev, i64 %t176
  store float %e14_1, ptr %t177, align 8
  br label %ra155
ra155:
  br label %ll145
ll145:
  %lh143in = add i64 %lh143i, 1
  br label %lh143
ld146:
  br label %rr138
rr138:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %rl60
rl60:
  %rh58cn = add i64 %rh58c, %t40
  %t178 = icmp ult i64 %rh58cn, %t42
  br i1 %t178, label %rh58, label %rd59
rd59:
  br label %fdp179
fdp179:
  br label %fdh180
fdh180:
  %fdh180k = phi i64 [1, %fdp179], [%fdh180kn, %fdb181]
  %fdh180c0 = phi float [0x8000000000000000, %fdp179], [%e15_1, %fdb181]
  %t183 = icmp ule i64 %fdh180k, %t47
  br i1 %t183, label %fdb181, label %fdd182
fdb181:
  %t184 = mul i64 %fdh180k, 8
  %t185 = add i64 %t184, 0
  %t186 = getelementptr i8, ptr %lev, i64 %t185
  %t187 = load float, ptr %t186, align 8
  %e15_1 = fadd float %t187, %fdh180c0
  %fdh180kn = add i64 %fdh180k, 1
  br label %fdh180
fdd182:
  br label %rf188
rf188:
  br label %re131
re131:
  %t189 = phi float [%ch67c0, %ro129], [%fdh180c0, %rf188]
  %t190 = mul i64 %t4, 0
  %t191 = add i64 %t190, %t2
  %t192 = mul i64 %t191, 8
  %t193 = getelementptr i8, ptr %shared, i64 %t192
  store float %t189, ptr %t193, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t196 = icmp ult i64 %t2, 32
  br i1 %t196, label %tree194, label %meet195
tree194:
  %t197 = add i64 %t2, 32
  %t198 = mul i64 %t4, 0
  %t199 = add i64 %t198, %t197
  %t200 = mul i64 %t199, 8
  %t201 = getelementptr i8, ptr %shared, i64 %t200
  %t202 = load float, ptr %t201, align 8
  %e16_1 = fadd float %t189, %t202
  %t203 = bitcast float %e16_1 to i32
  %t204 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t203, i32 16, i32 31)
  %t205 = bitcast i32 %t204 to float
  %e17_1 = fadd float %e16_1, %t205
  %t206 = bitcast float %e17_1 to i32
  %t207 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t206, i32 8, i32 31)
  %t208 = bitcast i32 %t207 to float
  %e18_1 = fadd float %e17_1, %t208
  %t209 = bitcast float %e18_1 to i32
  %t210 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t209, i32 4, i32 31)
  %t211 = bitcast i32 %t210 to float
  %e19_1 = fadd float %e18_1, %t211
  %t212 = bitcast float %e19_1 to i32
  %t213 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t212, i32 2, i32 31)
  %t214 = bitcast i32 %t213 to float
  %e20_1 = fadd float %e19_1, %t214
  %t215 = bitcast float %e20_1 to i32
  %t216 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t215, i32 1, i32 31)
  %t217 = bitcast i32 %t216 to float
  %e21_1 = fadd float %e20_1, %t217
  %t218 = mul i64 %t4, 0
  %t219 = add i64 %t218, %t2
  %t220 = mul i64 %t219, 8
  %t221 = getelementptr i8, ptr %shared, i64 %t220
  store float %e21_1, ptr %t221, align 8
  br label %meet195
meet195:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t222 = mul i64 %t4, 0
  %t223 = add i64 %t222, 0
  %t224 = mul i64 %t223, 8
  %t225 = getelementptr i8, ptr %shared, i64 %t224
  %t226 = load float, ptr %t225, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t229 = icmp eq i64 %t2, 0
  br i1 %t229, label %end227, label %ends228
end227:
  %t230 = inttoptr i64 %dh17a1 to ptr addrspace(1)
  %t231 = addrspacecast ptr addrspace(1) %t230 to ptr
  store float %t226, ptr %t231, align 4
  br label %ends228
ends228:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="1024" }
