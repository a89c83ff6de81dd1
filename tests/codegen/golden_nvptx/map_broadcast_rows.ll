target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @map_broadcast_rows(ptr %params, i64 %total) #0 {
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
  %t30 = udiv i64 %t29, %n
  %t31 = mul i64 %t30, %n
  %t32 = sub i64 %t29, %t31
  %t33 = getelementptr i64, ptr %params, i64 7
  %t34 = load i64, ptr %t33, align 8
  %t35 = getelementptr i64, ptr %params, i64 8
  %t36 = load i64, ptr %t35, align 8
  %t37 = getelementptr i64, ptr %params, i64 9
  %t38 = load i64, ptr %t37, align 8
  %t39 = getelementptr i64, ptr %params, i64 1
  %t40 = load i64, ptr %t39, align 8
  br label %dp41
dp41:
  br label %dh42
dh42:
  %dh42d = phi i64 [%t40, %dp41], [%dh42dn, %db43]
  %dh42r = phi i64 [%t30, %dp41], [%dh42rn, %db43]
  %dh42a0 = phi i64 [%t34, %dp41], [%dh42a0n, %db43]
  %dh42a1 = phi i64 [%t36, %dp41], [%dh42a1n, %db43]
  %dh42a2 = phi i64 [%t38, %dp41], [%dh42a2n, %db43]
  %t45 = icmp eq i64 %dh42d, 0
  br i1 %t45, label %dd44, label %db43
db43:
  %dh42dn = sub i64 %dh42d, 1
  %t46 = mul i64 %dh42dn, 4
  %t47 = add i64 %t46, 14
  %t48 = getelementptr i64, ptr %params, i64 %t47
  %t49 = load i64, ptr %t48, align 8
  %dh42rn = udiv i64 %dh42r, %t49
  %t50 = mul i64 %dh42rn, %t49
  %t51 = sub i64 %dh42r, %t50
  %t52 = add i64 %t47, 1
  %t53 = getelementptr i64, ptr %params, i64 %t52
  %t54 = load i64, ptr %t53, align 8
  %t55 = mul i64 %t51, %t54
  %dh42a0n = add i64 %dh42a0, %t55
  %t56 = add i64 %t47, 2
  %t57 = getelementptr i64, ptr %params, i64 %t56
  %t58 = load i64, ptr %t57, align 8
  %t59 = mul i64 %t51, %t58
  %dh42a1n = add i64 %dh42a1, %t59
  %t60 = add i64 %t47, 3
  %t61 = getelementptr i64, ptr %params, i64 %t60
  %t62 = load i64, ptr %t61, align 8
  %t63 = mul i64 %t51, %t62
  %dh42a2n = add i64 %dh42a2, %t63
  br label %dh42
dd44:
  %t64 = sub i64 %total, 1
  %t65 = icmp slt i64 %t22, %t64
  %t66 = select i1 %t65, i64 %t22, i64 %t64
  %t67 = udiv i64 %t66, %n
  %t68 = mul i64 %t67, %n
  %t69 = sub i64 %t66, %t68
  %t70 = getelementptr i64, ptr %params, i64 7
  %t71 = load i64, ptr %t70, align 8
  %t72 = getelementptr i64, ptr %params, i64 8
  %t73 = load i64, ptr %t72, align 8
  %t74 = getelementptr i64, ptr %params, i64 9
  %t75 = load i64, ptr %t74, align 8
  %t76 = getelementptr i64, ptr %params, i64 1
  %t77 = load i64, ptr %t76, align 8
  br label %dp78
dp78:
  br label %dh79
dh79:
  %dh79d = phi i64 [%t77, %dp78], [%dh79dn, %db80]
  %dh79r = phi i64 [%t67, %dp78], [%dh79rn, %db80]
  %dh79a0 = phi i64 [%t71, %dp78], [%dh79a0n, %db80]
  %dh79a1 = phi i64 [%t73, %dp78], [%dh79a1n, %db80]
  %dh79a2 = phi i64 [%t75, %dp78], [%dh79a2n, %db80]
  %t82 = icmp eq i64 %dh79d, 0
  br i1 %t82, label %dd81, label %db80
db80:
  %dh79dn = sub i64 %dh79d, 1
  %t83 = mul i64 %dh79dn, 4
  %t84 = add i64 %t83, 14
  %t85 = getelementptr i64, ptr %params, i64 %t84
  %t86 = load i64, ptr %t85, align 8
  %dh79rn = udiv i64 %dh79r, %t86
  %t87 = mul i64 %dh79rn, %t86
  %t88 = sub i64 %dh79r, %t87
  %t89 = add i64 %t84, 1
  %t90 = getelementptr i64, ptr %params, i64 %t89
  %t91 = load i64, ptr %t90, align 8
  %t92 = mul i64 %t88, %t91
  %dh79a0n = add i64 %dh79a0, %t92
  %t93 = add i64 %t84, 2
  %t94 = getelementptr i64, ptr %params, i64 %t93
  %t95 = load i64, ptr %t94, align 8
  %t96 = mul i64 %t88, %t95
  %dh79a1n = add i64 %dh79a1, %t96
  %t97 = add i64 %t84, 3
  %t98 = getelementptr i64, ptr %params, i64 %t97
  %t99 = load i64, ptr %t98, align 8
  %t100 = mul i64 %t88, %t99
  %dh79a2n = add i64 %dh79a2, %t100
  br label %dh79
dd81:
  %t101 = sub i64 %total, 1
  %t102 = icmp slt i64 %t24, %t101
  %t103 = select i1 %t102, i64 %t24, i64 %t101
  %t104 = udiv i64 %t103, %n
  %t105 = mul i64 %t104, %n
  %t106 = sub i64 %t103, %t105
  %t107 = getelementptr i64, ptr %params, i64 7
  %t108 = load i64, ptr %t107, align 8
  %t109 = getelementptr i64, ptr %params, i64 8
  %t110 = load i64, ptr %t109, align 8
  %t111 = getelementptr i64, ptr %params, i64 9
  %t112 = load i64, ptr %t111, align 8
  %t113 = getelementptr i64, ptr %params, i64 1
  %t114 = load i64, ptr %t113, align 8
  br label %dp115
dp115:
  br label %dh116
dh116:
  %dh116d = phi i64 [%t114, %dp115], [%dh116dn, %db117]
  %dh116r = phi i64 [%t104, %dp115], [%dh116rn, %db117]
  %dh116a0 = phi i64 [%t108, %dp115], [%dh116a0n, %db117]
  %dh116a1 = phi i64 [%t110, %dp115], [%dh116a1n, %db117]
  %dh116a2 = phi i64 [%t112, %dp115], [%dh116a2n, %db117]
  %t119 = icmp eq i64 %dh116d, 0
  br i1 %t119, label %dd118, label %db117
db117:
  %dh116dn = sub i64 %dh116d, 1
  %t120 = mul i64 %dh116dn, 4
  %t121 = add i64 %t120, 14
  %t122 = getelementptr i64, ptr %params, i64 %t121
  %t123 = load i64, ptr %t122, align 8
  %dh116rn = udiv i64 %dh116r, %t123
  %t124 = mul i64 %dh116rn, %t123
  %t125 = sub i64 %dh116r, %t124
  %t126 = add i64 %t121, 1
  %t127 = getelementptr i64, ptr %params, i64 %t126
  %t128 = load i64, ptr %t127, align 8
  %t129 = mul i64 %t125, %t128
  %dh116a0n = add i64 %dh116a0, %t129
  %t130 = add i64 %t121, 2
  %t131 = getelementptr i64, ptr %params, i64 %t130
  %t132 = load i64, ptr %t131, align 8
  %t133 = mul i64 %t125, %t132
  %dh116a1n = add i64 %dh116a1, %t133
  %t134 = add i64 %t121, 3
  %t135 = getelementptr i64, ptr %params, i64 %t134
  %t136 = load i64, ptr %t135, align 8
  %t137 = mul i64 %t125, %t136
  %dh116a2n = add i64 %dh116a2, %t137
  br label %dh116
dd118:
  %t138 = sub i64 %total, 1
  %t139 = icmp slt i64 %t26, %t138
  %t140 = select i1 %t139, i64 %t26, i64 %t138
  %t141 = udiv i64 %t140, %n
  %t142 = mul i64 %t141, %n
  %t143 = sub i64 %t140, %t142
  %t144 = getelementptr i64, ptr %params, i64 7
  %t145 = load i64, ptr %t144, align 8
  %t146 = getelementptr i64, ptr %params, i64 8
  %t147 = load i64, ptr %t146, align 8
  %t148 = getelementptr i64, ptr %params, i64 9
  %t149 = load i64, ptr %t148, align 8
  %t150 = getelementptr i64, ptr %params, i64 1
  %t151 = load i64, ptr %t150, align 8
  br label %dp152
dp152:
  br label %dh153
dh153:
  %dh153d = phi i64 [%t151, %dp152], [%dh153dn, %db154]
  %dh153r = phi i64 [%t141, %dp152], [%dh153rn, %db154]
  %dh153a0 = phi i64 [%t145, %dp152], [%dh153a0n, %db154]
  %dh153a1 = phi i64 [%t147, %dp152], [%dh153a1n, %db154]
  %dh153a2 = phi i64 [%t149, %dp152], [%dh153a2n, %db154]
  %t156 = icmp eq i64 %dh153d, 0
  br i1 %t156, label %dd155, label %db154
db154:
  %dh153dn = sub i64 %dh153d, 1
  %t157 = mul i64 %dh153dn, 4
  %t158 = add i64 %t157, 14
  %t159 = getelementptr i64, ptr %params, i64 %t158
  %t160 = load i64, ptr %t159, align 8
  %dh153rn = udiv i64 %dh153r, %t160
  %t161 = mul i64 %dh153rn, %t160
  %t162 = sub i64 %dh153r, %t161
  %t163 = add i64 %t158, 1
  %t164 = getelementptr i64, ptr %params, i64 %t163
  %t165 = load i64, ptr %t164, align 8
  %t166 = mul i64 %t162, %t165
  %dh153a0n = add i64 %dh153a0, %t166
  %t167 = add i64 %t158, 2
  %t168 = getelementptr i64, ptr %params, i64 %t167
  %t169 = load i64, ptr %t168, align 8
  %t170 = mul i64 %t162, %t169
  %dh153a1n = add i64 %dh153a1, %t170
  %t171 = add i64 %t158, 3
  %t172 = getelementptr i64, ptr %params, i64 %t171
  %t173 = load i64, ptr %t172, align 8
  %t174 = mul i64 %t162, %t173
  %dh153a2n = add i64 %dh153a2, %t174
  br label %dh153
dd155:
  %t175 = mul i64 %t32, %t13
  %t176 = add i64 %dh42a0, %t175
  %t177 = inttoptr i64 %t176 to ptr addrspace(1)
  %t178 = addrspacecast ptr addrspace(1) %t177 to ptr
  %e3_1 = load float, ptr %t178, align 4
  %t179 = mul i64 %t32, %t15
  %t180 = add i64 %dh42a1, %t179
  %t181 = inttoptr i64 %t180 to ptr addrspace(1)
  %t182 = addrspacecast ptr addrspace(1) %t181 to ptr
  %e4_1 = load float, ptr %t182, align 4
  %t183 = mul i64 %t69, %t13
  %t184 = add i64 %dh79a0, %t183
  %t185 = inttoptr i64 %t184 to ptr addrspace(1)
  %t186 = addrspacecast ptr addrspace(1) %t185 to ptr
  %e5_1 = load float, ptr %t186, align 4
  %t187 = mul i64 %t69, %t15
  %t188 = add i64 %dh79a1, %t187
  %t189 = inttoptr i64 %t188 to ptr addrspace(1)
  %t190 = addrspacecast ptr addrspace(1) %t189 to ptr
  %e6_1 = load float, ptr %t190, align 4
  %t191 = mul i64 %t106, %t13
  %t192 = add i64 %dh116a0, %t191
  %t193 = inttoptr i64 %t192 to ptr addrspace(1)
  %t194 = addrspacecast ptr addrspace(1) %t193 to ptr
  %e7_1 = load float, ptr %t194, align 4
  %t195 = mul i64 %t106, %t15
  %t196 = add i64 %dh116a1, %t195
  %t197 = inttoptr i64 %t196 to ptr addrspace(1)
  %t198 = addrspacecast ptr addrspace(1) %t197 to ptr
  %e8_1 = load float, ptr %t198, align 4
  %t199 = mul i64 %t143, %t13
  %t200 = add i64 %dh153a0, %t199
  %t201 = inttoptr i64 %t200 to ptr addrspace(1)
  %t202 = addrspacecast ptr addrspace(1) %t201 to ptr
  %e9_1 = load float, ptr %t202, align 4
  %t203 = mul i64 %t143, %t15
  %t204 = add i64 %dh153a1, %t203
  %t205 = inttoptr i64 %t204 to ptr addrspace(1)
  %t206 = addrspacecast ptr addrspace(1) %t205 to ptr
  %e10_1 = load float, ptr %t206, align 4
  %e2_1 = fmul float %e4_1, %t11
  %e2_2 = fadd float %e2_1, %e3_1
  %e2_3 = fmul float %e6_1, %t11
  %e2_4 = fadd float %e2_3, %e5_1
  %e2_5 = fmul float %e8_1, %t11
  %e2_6 = fadd float %e2_5, %e7_1
  %e2_7 = fmul float %e10_1, %t11
  %e2_8 = fadd float %e2_7, %e9_1
  %t207 = mul i64 %t32, %t17
  %t208 = add i64 %dh42a2, %t207
  %t209 = icmp ult i64 %t20, %total
  br i1 %t209, label %put210, label %puts211
put210:
  %t212 = inttoptr i64 %t208 to ptr addrspace(1)
  %t213 = addrspacecast ptr addrspace(1) %t212 to ptr
  store float %e2_2, ptr %t213, align 4
  br label %puts211
puts211:
  %t214 = mul i64 %t69, %t17
  %t215 = add i64 %dh79a2, %t214
  %t216 = icmp ult i64 %t22, %total
  br i1 %t216, label %put217, label %puts218
put217:
  %t219 = inttoptr i64 %t215 to ptr addrspace(1)
  %t220 = addrspacecast ptr addrspace(1) %t219 to ptr
  store float %e2_4, ptr %t220, align 4
  br label %puts218
puts218:
  %t221 = mul i64 %t106, %t17
  %t222 = add i64 %dh116a2, %t221
  %t223 = icmp ult i64 %t24, %total
  br i1 %t223, label %put224, label %puts225
put224:
  %t226 = inttoptr i64 %t222 to ptr addrspace(1)
  %t227 = addrspacecast ptr addrspace(1) %t226 to ptr
  store float %e2_6, ptr %t227, align 4
  br label %puts225
puts225:
  %t228 = mul i64 %t143, %t17
  %t229 = add i64 %dh153a2, %t228
  %t230 = icmp ult i64 %t26, %total
  br i1 %t230, label %put231, label %puts232
put231:
  %t233 = inttoptr i64 %t229 to ptr addrspace(1)
  %t234 = addrspacecast ptr addrspace(1) %t233 to ptr
  store float %e2_8, ptr %t234, align 4
  br label %puts232
puts232:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="256" }
