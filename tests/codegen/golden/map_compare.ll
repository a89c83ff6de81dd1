; kernel map width 64
;   %0 = in.v:float32
;   %1 = in.v:float32
;   %2 = out.v:bool
;   %3 = less %0 %1 :bool F
;   store %3 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather1(ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter1(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf0 = alloca i8, i64 256, align 64
  %buf1 = alloca i8, i64 256, align 64
  %buf2 = alloca i8, i64 64, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 10
  %t3 = load i64, ptr %t2, align 8
  %t4 = getelementptr i64, ptr %params, i64 11
  %t5 = load i64, ptr %t4, align 8
  %t6 = getelementptr i64, ptr %params, i64 12
  %t7 = load i64, ptr %t6, align 8
  %t8 = icmp eq i64 %t3, 4
  %t9 = icmp eq i64 %t5, 4
  %t10 = icmp eq i64 %t7, 1
  %t11 = and i1 %t8, %t9
  %t12 = and i1 %t11, %t10
  %t13 = udiv i64 %lo, %n
  %t14 = mul i64 %t13, %n
  %t15 = sub i64 %lo, %t14
  %t16 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t13, ptr %idx, ptr %base, i64 3, i64 13)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t13, %pre], [%r2, %again]
  %start = phi i64 [%t15, %pre], [0, %again]
  %left = phi i64 [%t16, %pre], [%left2, %again]
  %t17 = sub i64 %n, %start
  %t18 = icmp ult i64 %t17, %left
  %t19 = select i1 %t18, i64 %t17, i64 %left
  %t20 = add i64 %start, %t19
  %left2 = sub i64 %left, %t19
  %t21 = getelementptr i64, ptr %base, i64 0
  %t22 = load i64, ptr %t21, align 8
  %t23 = getelementptr i64, ptr %base, i64 1
  %t24 = load i64, ptr %t23, align 8
  %t25 = getelementptr i64, ptr %base, i64 2
  %t26 = load i64, ptr %t25, align 8
  br label %ppre27
ppre27:
  br label %phead28
phead28:
  %phead28i = phi i64 [%start, %ppre27], [%phead28in, %platch29]
  %t31 = add i64 %phead28i, 64
  %t32 = icmp ule i64 %t31, %t20
  %t33 = and i1 %t32, %t12
  br i1 %t33, label %dir34, label %slow35
dir34:
  %t37 = mul i64 %phead28i, 4
  %t38 = add i64 %t22, %t37
  %t39 = inttoptr i64 %t38 to ptr
  %t40 = mul i64 %phead28i, 4
  %t41 = add i64 %t24, %t40
  %t42 = inttoptr i64 %t41 to ptr
  %t43 = mul i64 %phead28i, 1
  %t44 = add i64 %t26, %t43
  %t45 = inttoptr i64 %t44 to ptr
  br label %body36
slow35:
  %t46 = sub i64 %t20, %phead28i
  %t47 = icmp ult i64 %t46, 64
  %t48 = select i1 %t47, i64 %t46, i64 64
  %t49 = mul i64 %phead28i, %t3
  %t50 = add i64 %t22, %t49
  %t51 = inttoptr i64 %t50 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t51, i64 %t3, i64 %t48)
  %t52 = mul i64 %phead28i, %t5
  %t53 = add i64 %t24, %t52
  %t54 = inttoptr i64 %t53 to ptr
  call void @ev_gather4(ptr %buf1, ptr %t54, i64 %t5, i64 %t48)
  br label %body36
body36:
  %t55 = phi i64 [64, %dir34], [%t48, %slow35]
  %t56 = phi ptr [%t39, %dir34], [%buf0, %slow35]
  %t57 = phi ptr [%t42, %dir34], [%buf1, %slow35]
  %t58 = phi ptr [%t45, %dir34], [%buf2, %slow35]
  %e1_1 = load <64 x float>, ptr %t56, align 4
  %e1_2 = load <64 x float>, ptr %t57, align 4
  %e1_3 = fcmp ogt <64 x float> %e1_2, %e1_1
  %e2_1 = zext <64 x i1> %e1_3 to <64 x i8>
  store <64 x i8> %e2_1, ptr %t58, align 1
  br i1 %t33, label %platch29, label %back59
back59:
  %t60 = mul i64 %phead28i, %t7
  %t61 = add i64 %t26, %t60
  %t62 = inttoptr i64 %t61 to ptr
  call void @ev_scatter1(ptr %buf2, ptr %t62, i64 %t7, i64 %t55)
  br label %platch29
platch29:
  %phead28in = add i64 %phead28i, 64
  %t63 = icmp ult i64 %phead28in, %t20
  br i1 %t63, label %phead28, label %pdone30
pdone30:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t64 = icmp eq i64 %left2, 0
  br i1 %t64, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 13)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
