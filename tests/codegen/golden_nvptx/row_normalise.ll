target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @row_normalise(ptr %params, i64 %total) #0 {
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
  %t12 = getelementptr i64, ptr %params, i64 7
  %t13 = load i64, ptr %t12, align 8
  %t14 = getelementptr i64, ptr %params, i64 8
  %t15 = load i64, ptr %t14, align 8
  %t16 = getelementptr i64, ptr %params, i64 1
  %t17 = load i64, ptr %t16, align 8
  br label %dp18
dp18:
  br label %dh19
dh19:
  %dh19d = phi i64 [%t17, %dp18], [%dh19dn, %db20]
  %dh19r = phi i64 [%t6, %dp18], [%dh19rn, %db20]
  %dh19a0 = phi i64 [%t13, %dp18], [%dh19a0n, %db20]
  %dh19a1 = phi i64 [%t15, %dp18], [%dh19a1n, %db20]
  %t22 = icmp eq i64 %dh19d, 0
  br i1 %t22, label %dd21, label %db20
db20:
  %dh19dn = sub i64 %dh19d, 1
  %t23 = mul i64 %dh19dn, 3
  %t24 = add i64 %t23, 11
  %t25 = getelementptr i64, ptr %params, i64 %t24
  %t26 = load i64, ptr %t25, align 8
  %dh19rn = udiv i64 %dh19r, %t26
  %t27 = mul i64 %dh19rn, %t26
  %t28 = sub i64 %dh19r, %t27
  %t29 = add i64 %t24, 1
  %t30 = getelementptr i64, ptr %params, i64 %t29
  %t31 = load i64, ptr %t30, align 8
  %t32 = mul i64 %t28, %t31
  %dh19a0n = add i64 %dh19a0, %t32
  %t33 = add i64 %t24, 2
  %t34 = getelementptr i64, ptr %params, i64 %t33
  %t35 = load i64, ptr %t34, align 8
  %t36 = mul i64 %t28, %t35
  %dh19a1n = add i64 %dh19a1, %t36
  br label %dh19
dd21:
  %t37 = udiv i64 %t2, 64
  %t38 = mul i64 %t37, 64
  %t39 = sub i64 %t2, %t38
  %t40 = add i64 %n, 63
  %t41 = udiv i64 %t40, 64
  %t42 = udiv i64 %t4, 64
  %t43 = add i64 %t41, 15
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
  %t58 = icmp eq i64 %t37, 0
  br label %rp59
rp59:
  br label %rh60
rh60:
  %rh60c = phi i64 [0, %rp59], [%rh60cn, %rl62]
  %t63 = add i64 %rh60c, %t37
  %t64 = mul i64 %t63, 16
  %t65 = add i64 %t64, 16
  %t66 = icmp slt i64 %t65, %t41
  %t67 = select i1 %t66, i64 %t65, i64 %t41
  br label %cp68
cp68:
  br label %ch69
ch69:
  %ch69b = phi i64 [%t64, %cp68], [%ch69bn, %cl71]
  %ch69c0 = phi float [0x8000000000000000, %cp68], [%e13_1, %cl71]
  %t73 = icmp slt i64 %ch69b, %t67
  br i1 %t73, label %cb70, label %cd72
cb70:
  %t74 = add i64 %ch69b, 1
  %t75 = add i64 %ch69b, 2
  %t76 = add i64 %ch69b, 3
  %t77 = add i64 %ch69b, 0
  %t78 = mul i64 %t77, 64
  %t79 = add i64 %t78, %t39
  %t80 = add i64 %t74, 0
  %t81 = mul i64 %t80, 64
  %t82 = add i64 %t81, %t39
  %t83 = add i64 %t75, 0
  %t84 = mul i64 %t83, 64
  %t85 = add i64 %t84, %t39
  %t86 = add i64 %t76, 0
  %t87 = mul i64 %t86, 64
  %t88 = add i64 %t87, %t39
  %t89 = sub i64 %n, 1
  %t90 = icmp slt i64 %t79, %t89
  %t91 = select i1 %t90, i64 %t79, i64 %t89
  %t92 = sub i64 %n, 1
  %t93 = icmp slt i64 %t82, %t92
  %t94 = select i1 %t93, i64 %t82, i64 %t92
  %t95 = sub i64 %n, 1
  %t96 = icmp slt i64 %t85, %t95
  %t97 = select i1 %t96, i64 %t85, i64 %t95
  %t98 = sub i64 %n, 1
  %t99 = icmp slt i64 %t88, %t98
  %t100 = select i1 %t99, i64 %t88, i64 %t98
  %t101 = mul i64 %t91, %t9
  %t102 = add i64 %dh19a0, %t101
  %t103 = inttoptr i64 %t102 to ptr addrspace(1)
  %t104 = addrspacecast ptr addrspace(1) %t103 to ptr
  %e2_1 = load float, ptr %t104, align 4
  %t105 = mul i64 %t94, %t9
  %t106 = add i64 %dh19a0, %t105
  %t107 = inttoptr i64 %t106 to ptr addrspace(1)
  %t108 = addrspacecast ptr addrspace(1) %t107 to ptr
  %e3_1 = load float, ptr %t108, align 4
  %t109 = mul i64 %t97, %t9
  %t110 = add i64 %dh19a0, %t109
  %t111 = inttoptr i64 %t110 to ptr addrspace(1)
  %t112 = addrspacecast ptr addrspace(1) %t111 to ptr
  %e4_1 = load float, ptr %t112, align 4
  %t113 = mul i64 %t100, %t9
  %t114 = add i64 %dh19a0, %t113
  %t115 = inttoptr i64 %t114 to ptr addrspace(1)
  %t116 = addrspacecast ptr addrspace(1) %t115 to ptr
  %e5_1 = load float, ptr %t116, align 4
  %t117 = icmp slt i64 %t79, %n
  %t118 = select i1 %t117, float %e2_1, float 0x8000000000000000
  %t119 = icmp slt i64 %t82, %n
  %t120 = select i1 %t119, float %e3_1, float 0x8000000000000000
  %t121 = icmp slt i64 %t85, %n
  %t122 = select i1 %t121, float %e4_1, float 0x8000000000000000
  %t123 = icmp slt i64 %t88, %n
  %t124 = select i1 %t123, float %e5_1, float 0x8000000000000000
  %e10_1 = fadd float %ch69c0, %t118
  %t125 = icmp slt i64 %t74, %t67
  %t126 = select i1 %t125, float %t120, float 0x8000000000000000
  %e11_1 = fadd float %e10_1, %t126
  %t127 = icmp slt i64 %t75, %t67
  %t128 = select i1 %t127, float %t122, float 0x8000000000000000
  %e12_1 = fadd float %e11_1, %t128
  %t129 = icmp slt i64 %t76, %t67
  %t130 = select i1 %t129, float %t124, float 0x8000000000000000
  %e13_1 = fadd float %e12_1, %t130
  br label %cl71
cl71:
  %ch69bn = add i64 %ch69b, 4
  br label %ch69
cd72:
  %t134 = icmp eq i64 %t44, 1
  br i1 %t134, label %ro131, label %rs132
ro131:
  br label %re133
rs132:
  %t135 = mul i64 %t4, 0
  %t136 = add i64 %t135, %t2
  %t137 = mul i64 %t136, 8
  %t138 = getelementptr i8, ptr %shared, i64 %t137
  store float %ch69c0, ptr %t138, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %t58, label %rq139, label %rr140
rq139:
  %t141 = sub i64 %t44, %rh60c
  %t142 = icmp slt i64 %t141, %t42
  %t143 = select i1 %t142, i64 %t141, i64 %t42
  br label %lp144
lp144:
  br label %lh145
lh145:
  %lh145i = phi i64 [0, %lp144], [%lh145in, %ll147]
  %t149 = icmp slt i64 %lh145i, %t143
  br i1 %t149, label %lb146, label %ld148
lb146:
  %t150 = mul i64 %lh145i, 64
  %t151 = add i64 %t150, %t39
  %t152 = mul i64 %t4, 0
  %t153 = add i64 %t152, %t151
  %t154 = mul i64 %t153, 8
  %t155 = getelementptr i8, ptr %shared, i64 %t154
  %t156 = load float, ptr %t155, align 8
  %t158 = add i64 %rh60c, %lh145i
  %t159 = add i64 %t158, 1
  br label %psp160
psp160:
  br label %psh161
psh161:
  %psh161k = phi i64 [1, %psp160], [%psh161kn, %psm162]
  %psh161c0 = phi float [%t156, %psp160], [%e14_1, %psm162]
  %t163 = mul i64 %psh161k, 8
  %t164 = add i64 %t163, 0
  %t165 = getelementptr i8, ptr %lev, i64 %t164
  %t166 = load float, ptr %t165, align 8
  %e14_1 = fadd float %t166, %psh161c0
  %t167 = sub i64 %psh161k, 0
  %t168 = shl i64 %t167, 2
  %t169 = shl i64 1, %t168
  %t170 = sub i64 %t169, 1
  %t171 = and i64 %t159, %t170
  %t172 = icmp eq i64 %t171, 0
  br i1 %t172, label %psm162, label %psk173
psm162:
  %t174 = mul i64 %psh161k, 8
  %t175 = add i64 %t174, 0
  %t176 = getelementptr i8, ptr %lev, i64 %t175
  store float 0x8000000000000000, ptr %t176, align 8
  %psh161kn = add i64 %psh161k, 1
  br label %psh161
psk173:
  %t177 = mul i64 %psh161k, 8
  %t178 = add i64 %t177, 0
  %t179 = getelementptr i8, ptr %lev, i64 %t178
  store float %e14_1, ptr %t179, align 8
  br label %ra157
ra157:
  br label %ll147
ll147:
  %lh145in = add i64 %lh145i, 1
  br label %lh145
ld148:
  br label %rr140
rr140:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %rl62
rl62:
  %rh60cn = add i64 %rh60c, %t42
  %t180 = icmp ult i64 %rh60cn, %t44
  br i1 %t180, label %rh60, label %rd61
rd61:
  br label %fdp181
fdp181:
  br label %fdh182
fdh182:
  %fdh182k = phi i64 [1, %fdp181], [%fdh182kn, %fdb183]
  %fdh182c0 = phi float [0x8000000000000000, %fdp181], [%e15_1, %fdb183]
  %t185 = icmp ule i64 %fdh182k, %t49
  br i1 %t185, label %fdb183, label %fdd184
fdb183:
  %t186 = mul i64 %fdh182k, 8
  %t187 = add i64 %t186, 0
  %t188 = getelementptr i8, ptr %lev, i64 %t187
  %t189 = load float, ptr %t188, align 8
  %e15_1 = fadd float %t189, %fdh182c0
  %fdh182kn = add i64 %fdh182k, 1
  br label %fdh182
fdd184:
  br label %rf190
rf190:
  br label %re133
re133:
  %t191 = phi float [%ch69c0, %ro131], [%fdh182c0, %rf190]
  %t192 = mul i64 %t4, 0
  %t193 = add i64 %t192, %t2
  %t194 = mul i64 %t193, 8
  %t195 = getelementptr i8, ptr %shared, i64 %t194
  store float %t191, ptr %t195, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t198 = icmp ult i64 %t2, 32
  br i1 %t198, label %tree196, label %meet197
tree196:
  %t199 = add i64 %t2, 32
  %t200 = mul i64 %t4, 0
  %t201 = add i64 %t200, %t199
  %t202 = mul i64 %t201, 8
  %t203 = getelementptr i8, ptr %shared, i64 %t202
  %t204 = load float, ptr %t203, align 8
  %e16_1 = fadd float %t191, %t204
  %t205 = bitcast float %e16_1 to i32
  %t206 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t205, i32 16, i32 31)
  %t207 = bitcast i32 %t206 to float
  %e17_1 = fadd float %e16_1, %t207
  %t208 = bitcast float %e17_1 to i32
  %t209 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t208, i32 8, i32 31)
  %t210 = bitcast i32 %t209 to float
  %e18_1 = fadd float %e17_1, %t210
  %t211 = bitcast float %e18_1 to i32
  %t212 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t211, i32 4, i32 31)
  %t213 = bitcast i32 %t212 to float
  %e19_1 = fadd float %e18_1, %t213
  %t214 = bitcast float %e19_1 to i32
  %t215 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t214, i32 2, i32 31)
  %t216 = bitcast i32 %t215 to float
  %e20_1 = fadd float %e19_1, %t216
  %t217 = bitcast float %e20_1 to i32
  %t218 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t217, i32 1, i32 31)
  %t219 = bitcast i32 %t218 to float
  %e21_1 = fadd float %e20_1, %t219
  %t220 = mul i64 %t4, 0
  %t221 = add i64 %t220, %t2
  %t222 = mul i64 %t221, 8
  %t223 = getelementptr i8, ptr %shared, i64 %t222
  store float %e21_1, ptr %t223, align 8
  br label %meet197
meet197:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t224 = mul i64 %t4, 0
  %t225 = add i64 %t224, 0
  %t226 = mul i64 %t225, 8
  %t227 = getelementptr i8, ptr %shared, i64 %t226
  %t228 = load float, ptr %t227, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %t229 = mul i64 %t4, 4
  %t230 = add i64 0, %t2
  br label %lp231
lp231:
  br label %lh232
lh232:
  %lh232i = phi i64 [%t230, %lp231], [%lh232in, %ll234]
  %t236 = icmp slt i64 %lh232i, %n
  br i1 %t236, label %lb233, label %ld235
lb233:
  %t237 = mul i64 %t4, 1
  %t238 = add i64 %lh232i, %t237
  %t239 = mul i64 %t4, 2
  %t240 = add i64 %lh232i, %t239
  %t241 = mul i64 %t4, 3
  %t242 = add i64 %lh232i, %t241
  %t243 = sub i64 %n, 1
  %t244 = icmp slt i64 %lh232i, %t243
  %t245 = select i1 %t244, i64 %lh232i, i64 %t243
  %t246 = sub i64 %n, 1
  %t247 = icmp slt i64 %t238, %t246
  %t248 = select i1 %t247, i64 %t238, i64 %t246
  %t249 = sub i64 %n, 1
  %t250 = icmp slt i64 %t240, %t249
  %t251 = select i1 %t250, i64 %t240, i64 %t249
  %t252 = sub i64 %n, 1
  %t253 = icmp slt i64 %t242, %t252
  %t254 = select i1 %t253, i64 %t242, i64 %t252
  %t255 = mul i64 %t245, %t9
  %t256 = add i64 %dh19a0, %t255
  %t257 = inttoptr i64 %t256 to ptr addrspace(1)
  %t258 = addrspacecast ptr addrspace(1) %t257 to ptr
  %e25_1 = load float, ptr %t258, align 4
  %t259 = mul i64 %t248, %t9
  %t260 = add i64 %dh19a0, %t259
  %t261 = inttoptr i64 %t260 to ptr addrspace(1)
  %t262 = addrspacecast ptr addrspace(1) %t261 to ptr
  %e26_1 = load float, ptr %t262, align 4
  %t263 = mul i64 %t251, %t9
  %t264 = add i64 %dh19a0, %t263
  %t265 = inttoptr i64 %t264 to ptr addrspace(1)
  %t266 = addrspacecast ptr addrspace(1) %t265 to ptr
  %e27_1 = load float, ptr %t266, align 4
  %t267 = mul i64 %t254, %t9
  %t268 = add i64 %dh19a0, %t267
  %t269 = inttoptr i64 %t268 to ptr addrspace(1)
  %t270 = addrspacecast ptr addrspace(1) %t269 to ptr
  %e28_1 = load float, ptr %t270, align 4
  %e24_1 = fdiv float %e25_1, %t228
  %e24_2 = fdiv float %e26_1, %t228
  %e24_3 = fdiv float %e27_1, %t228
  %e24_4 = fdiv float %e28_1, %t228
  %t271 = icmp slt i64 %lh232i, %n
  %t272 = mul i64 %t245, %t11
  %t273 = add i64 %dh19a1, %t272
  br i1 %t271, label %put274, label %puts275
put274:
  %t276 = inttoptr i64 %t273 to ptr addrspace(1)
  %t277 = addrspacecast ptr addrspace(1) %t276 to ptr
  store float %e24_1, ptr %t277, align 4
  br label %puts275
puts275:
  %t278 = icmp slt i64 %t238, %n
  %t279 = mul i64 %t248, %t11
  %t280 = add i64 %dh19a1, %t279
  br i1 %t278, label %put281, label %puts282
put281:
  %t283 = inttoptr i64 %t280 to ptr addrspace(1)
  %t284 = addrspacecast ptr addrspace(1) %t283 to ptr
  store float %e24_2, ptr %t284, align 4
  br label %puts282
puts282:
  %t285 = icmp slt i64 %t240, %n
  %t286 = mul i64 %t251, %t11
  %t287 = add i64 %dh19a1, %t286
  br i1 %t285, label %put288, label %puts289
put288:
  %t290 = inttoptr i64 %t287 to ptr addrspace(1)
  %t291 = addrspacecast ptr addrspace(1) %t290 to ptr
  store float %e24_3, ptr %t291, align 4
  br label %puts289
puts289:
  %t292 = icmp slt i64 %t242, %n
  %t293 = mul i64 %t254, %t11
  %t294 = add i64 %dh19a1, %t293
  br i1 %t292, label %put295, label %puts296
put295:
  %t297 = inttoptr i64 %t294 to ptr addrspace(1)
  %t298 = addrspacecast ptr addrspace(1) %t297 to ptr
  store float %e24_4, ptr %t298, align 4
  br label %puts296
puts296:
  br label %ll234
ll234:
  %lh232in = add i64 %lh232i, %t229
  br label %lh232
ld235:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="1024" }
