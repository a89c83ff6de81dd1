; kernel short width 32 depth 4
;   %0 = in.v:float32
;   %1 = out.v:float32
;   %2 = sum %0 :float32 O
;   store %2 -> %1
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 2, align 8
  %buf0 = alloca i8, i64 128, align 64
  %buf1 = alloca i8, i64 128, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 9
  %t3 = load i64, ptr %t2, align 8
  %t4 = getelementptr i64, ptr %params, i64 10
  %t5 = load i64, ptr %t4, align 8
  %t6 = icmp eq i64 %t3, 4
  %t7 = icmp eq i64 %t5, 4
  %t8 = and i1 %t6, %t7
  %all0 = alloca i8, i64 8192, align 64
  %t9 = getelementptr i64, ptr %params, i64 5
  %t10 = load i64, ptr %t9, align 8
  %t11 = getelementptr i64, ptr %params, i64 2
  %t12 = load i64, ptr %t11, align 8
  %t13 = getelementptr i64, ptr %params, i64 11
  %t14 = load i64, ptr %t13, align 8
  %part = alloca i8, i64 4096, align 64
  %t15 = udiv i64 %lo, %t10
  %t16 = mul i64 %t15, %t10
  %t17 = sub i64 %lo, %t16
  call void @ev_decode(ptr %params, i64 %t15, ptr %idx, ptr %base, i64 2, i64 13)
  br label %pre
pre:
  br label %unit
unit:
  %u = phi i64 [%lo, %pre], [%u2, %again]
  %strip = phi i64 [%t17, %pre], [%strip2, %again]
  %t18 = mul i64 %strip, 32
  %t19 = getelementptr i64, ptr %base, i64 0
  %t20 = load i64, ptr %t19, align 8
  %t21 = getelementptr i64, ptr %base, i64 1
  %t22 = load i64, ptr %t21, align 8
  %t23 = add i64 %t18, 32
  %t24 = icmp ule i64 %t23, %n
  %t25 = icmp eq i64 %t3, 4
  %t26 = and i1 %t24, %t25
  %t30 = mul i64 %t18, %t3
  %t31 = add i64 %t20, %t30
  br i1 %t26, label %dir27, label %slow28
dir27:
  br label %body29
slow28:
  %t32 = sub i64 %n, %t18
  %t33 = icmp ult i64 %t32, 32
  %t34 = select i1 %t33, i64 %t32, i64 32
  br label %precopy37
precopy37:
  br label %copy35
copy35:
  %copy35k = phi i64 [0, %precopy37], [%copy35kn, %copy35]
  %t38 = mul i64 %t14, %copy35k
  %t39 = add i64 %t31, %t38
  %t40 = inttoptr i64 %t39 to ptr
  %t41 = mul i64 %copy35k, 128
  %t42 = getelementptr i8, ptr %all0, i64 %t41
  call void @ev_gather4(ptr %t42, ptr %t40, i64 %t3, i64 %t34)
  %copy35kn = add i64 %copy35k, 1
  %t43 = icmp ult i64 %copy35kn, %t12
  br i1 %t43, label %copy35, label %copied36
copied36:
  %t44 = ptrtoint ptr %all0 to i64
  br label %body29
body29:
  %t45 = phi i64 [%t31, %dir27], [%t44, %copied36]
  %t46 = phi i64 [%t14, %dir27], [128, %copied36]
  %t47 = getelementptr i64, ptr %params, i64 6
  %t48 = load i64, ptr %t47, align 8
  %t49 = sub i64 %t12, 1
  br label %tpre
tpre:
  br label %turn
turn:
  %i = phi i64 [0, %tpre], [%i2, %tlatch]
  %t50 = mul i64 %i, %t46
  %t51 = add i64 %t45, %t50
  %t52 = inttoptr i64 %t51 to ptr
  %e1_1 = load <32 x float>, ptr %t52, align 4
  %t53 = mul i64 %t48, 2
  %t54 = add i64 %i, %t53
  %t55 = mul i64 %t54, %t46
  %t56 = add i64 %t45, %t55
  %t57 = inttoptr i64 %t56 to ptr
  %e3_1 = load <32 x float>, ptr %t57, align 4
  %e5_1 = fadd <32 x float> %e1_1, %e3_1
  %t58 = mul i64 %t48, 1
  %t59 = add i64 %i, %t58
  %t60 = mul i64 %t59, %t46
  %t61 = add i64 %t45, %t60
  %t62 = inttoptr i64 %t61 to ptr
  %e6_1 = load <32 x float>, ptr %t62, align 4
  %t63 = mul i64 %t48, 3
  %t64 = add i64 %i, %t63
  %t65 = mul i64 %t64, %t46
  %t66 = add i64 %t45, %t65
  %t67 = inttoptr i64 %t66 to ptr
  %e8_1 = load <32 x float>, ptr %t67, align 4
  %e10_1 = fadd <32 x float> %e6_1, %e8_1
  %e11_1 = fadd <32 x float> %e5_1, %e10_1
  %t68 = mul i64 %i, 256
  %t69 = add i64 %t68, 0
  %t70 = getelementptr i8, ptr %part, i64 %t69
  store <32 x float> %e11_1, ptr %t70, align 8
  %i2 = add i64 %i, 1
  br label %tlatch
tlatch:
  %t71 = icmp ult i64 %i2, %t48
  br i1 %t71, label %turn, label %meet
meet:
  %size = phi i64 [%t48, %tlatch], [%half, %met]
  %half = lshr i64 %size, 1
  %t72 = icmp ne i64 %half, 0
  br i1 %t72, label %pairs, label %one
pairs:
  %p = phi i64 [0, %meet], [%p2, %pairs]
  %t73 = add i64 %p, %half
  %t74 = mul i64 %p, 256
  %t75 = add i64 %t74, 0
  %t76 = getelementptr i8, ptr %part, i64 %t75
  %t77 = load <32 x float>, ptr %t76, align 8
  %t78 = mul i64 %t73, 256
  %t79 = add i64 %t78, 0
  %t80 = getelementptr i8, ptr %part, i64 %t79
  %t81 = load <32 x float>, ptr %t80, align 8
  %e12_1 = fadd <32 x float> %t77, %t81
  %t82 = mul i64 %p, 256
  %t83 = add i64 %t82, 0
  %t84 = getelementptr i8, ptr %part, i64 %t83
  store <32 x float> %e12_1, ptr %t84, align 8
  %p2 = add i64 %p, 1
  %t85 = icmp ult i64 %p2, %half
  br i1 %t85, label %pairs, label %met
met:
  br label %meet
one:
  %t86 = mul i64 0, 256
  %t87 = add i64 %t86, 0
  %t88 = getelementptr i8, ptr %part, i64 %t87
  %t89 = load <32 x float>, ptr %t88, align 8
  %t90 = add i64 %t18, 32
  %t91 = icmp ule i64 %t90, %n
  %t92 = and i1 %t91, %t8
  br i1 %t92, label %dir93, label %slow94
dir93:
  %t96 = mul i64 %t18, 4
  %t97 = add i64 %t22, %t96
  %t98 = inttoptr i64 %t97 to ptr
  br label %body95
slow94:
  %t99 = sub i64 %n, %t18
  %t100 = icmp ult i64 %t99, 32
  %t101 = select i1 %t100, i64 %t99, i64 32
  br label %body95
body95:
  %t102 = phi i64 [32, %dir93], [%t101, %slow94]
  %t103 = phi ptr [%t98, %dir93], [%buf1, %slow94]
  store <32 x float> %t89, ptr %t103, align 4
  br i1 %t92, label %next, label %back104
back104:
  %t105 = mul i64 %t18, %t5
  %t106 = add i64 %t22, %t105
  %t107 = inttoptr i64 %t106 to ptr
  call void @ev_scatter4(ptr %buf1, ptr %t107, i64 %t5, i64 %t102)
  br label %next
next:
  %u2 = add i64 %u, 1
  %t108 = icmp ult i64 %u2, %hi
  br i1 %t108, label %step, label %done
step:
  %strip1 = add i64 %strip, 1
  %t109 = icmp uge i64 %strip1, %t10
  br i1 %t109, label %move, label %stay
move:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 2, i64 13)
  br label %again
stay:
  br label %again
again:
  %strip2 = phi i64 [0, %move], [%strip1, %stay]
  br label %unit
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
