; kernel map width 64
;   %0 = in.v:bool
;   %1 = in.v:float32
;   %2 = in.v:float32
;   %3 = out.v:float32
;   %4 = where %0 %1 %2 :float32 F
;   store %4 -> %3
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather1(ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter1(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 4, align 8
  %buf0 = alloca i8, i64 64, align 64
  %buf1 = alloca i8, i64 256, align 64
  %buf2 = alloca i8, i64 256, align 64
  %buf3 = alloca i8, i64 256, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 11
  %t3 = load i64, ptr %t2, align 8
  %t4 = getelementptr i64, ptr %params, i64 12
  %t5 = load i64, ptr %t4, align 8
  %t6 = getelementptr i64, ptr %params, i64 13
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 14
  %t9 = load i64, ptr %t8, align 8
  %t10 = icmp eq i64 %t3, 1
  %t11 = icmp eq i64 %t5, 4
  %t12 = icmp eq i64 %t7, 4
  %t13 = icmp eq i64 %t9, 4
  %t14 = and i1 %t10, %t11
  %t15 = and i1 %t14, %t12
  %t16 = and i1 %t15, %t13
  %t17 = udiv i64 %lo, %n
  %t18 = mul i64 %t17, %n
  %t19 = sub i64 %lo, %t18
  %t20 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t17, ptr %idx, ptr %base, i64 4, i64 15)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t17, %pre], [%r2, %again]
  %start = phi i64 [%t19, %pre], [0, %again]
  %left = phi i64 [%t20, %pre], [%left2, %again]
  %t21 = sub i64 %n, %start
  %t22 = icmp ult i64 %t21, %left
  %t23 = select i1 %t22, i64 %t21, i64 %left
  %t24 = add i64 %start, %t23
  %left2 = sub i64 %left, %t23
  %t25 = getelementptr i64, ptr %base, i64 0
  %t26 = load i64, ptr %t25, align 8
  %t27 = getelementptr i64, ptr %base, i64 1
  %t28 = load i64, ptr %t27, align 8
  %t29 = getelementptr i64, ptr %base, i64 2
  %t30 = load i64, ptr %t29, align 8
  %t31 = getelementptr i64, ptr %base, i64 3
  %t32 = load i64, ptr %t31, align 8
  br label %ppre33
ppre33:
  br label %phead34
phead34:
  %phead34i = phi i64 [%start, %ppre33], [%phead34in, %platch35]
  %t37 = add i64 %phead34i, 64
  %t38 = icmp ule i64 %t37, %t24
  %t39 = and i1 %t38, %t16
  br i1 %t39, label %dir40, label %slow41
dir40:
  %t43 = mul i64 %phead34i, 1
  %t44 = add i64 %t26, %t43
  %t45 = inttoptr i64 %t44 to ptr
  %t46 = mul i64 %phead34i, 4
  %t47 = add i64 %t28, %t46
  %t48 = inttoptr i64 %t47 to ptr
  %t49 = mul i64 %phead34i, 4
  %t50 = add i64 %t30, %t49
  %t51 = inttoptr i64 %t50 to ptr
  %t52 = mul i64 %phead34i, 4
  %t53 = add i64 %t32, %t52
  %t54 = inttoptr i64 %t53 to ptr
  br label %body42
slow41:
  %t55 = sub i64 %t24, %phead34i
  %t56 = icmp ult i64 %t55, 64
  %t57 = select i1 %t56, i64 %t55, i64 64
  %t58 = mul i64 %phead34i, %t3
  %t59 = add i64 %t26, %t58
  %t60 = inttoptr i64 %t59 to ptr
  call void @ev_gather1(ptr %buf0, ptr %t60, i64 %t3, i64 %t57)
  %t61 = mul i64 %phead34i, %t5
  %t62 = add i64 %t28, %t61
  %t63 = inttoptr i64 %t62 to ptr
  call void @ev_gather4(ptr %buf1, ptr %t63, i64 %t5, i64 %t57)
  %t64 = mul i64 %phead34i, %t7
  %t65 = add i64 %t30, %t64
  %t66 = inttoptr i64 %t65 to ptr
  call void @ev_gather4(ptr %buf2, ptr %t66, i64 %t7, i64 %t57)
  br label %body42
body42:
  %t67 = phi i64 [64, %dir40], [%t57, %slow41]
  %t68 = phi ptr [%t45, %dir40], [%buf0, %slow41]
  %t69 = phi ptr [%t48, %dir40], [%buf1, %slow41]
  %t70 = phi ptr [%t51, %dir40], [%buf2, %slow41]
  %t71 = phi ptr [%t54, %dir40], [%buf3, %slow41]
  %e1_1 = load <64 x i8>, ptr %t68, align 1
  %e1_2 = icmp ne <64 x i8> %e1_1, splat (i8 0)
  %e1_3 = load <64 x float>, ptr %t69, align 4
  %e1_4 = load <64 x float>, ptr %t70, align 4
  %e1_5 = select <64 x i1> %e1_2, <64 x float> %e1_3, <64 x float> %e1_4
  store <64 x float> %e1_5, ptr %t71, align 4
  br i1 %t39, label %platch35, label %back72
back72:
  %t73 = mul i64 %phead34i, %t9
  %t74 = add i64 %t32, %t73
  %t75 = inttoptr i64 %t74 to ptr
  call void @ev_scatter4(ptr %buf3, ptr %t75, i64 %t9, i64 %t67)
  br label %platch35
platch35:
  %phead34in = add i64 %phead34i, 64
  %t76 = icmp ult i64 %phead34in, %t24
  br i1 %t76, label %phead34, label %pdone36
pdone36:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t77 = icmp eq i64 %left2, 0
  br i1 %t77, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 4, i64 15)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
