; kernel map width 64
;   %0 = in.v:int32
;   %1 = in.v:int32
;   %2 = out.v:int32
;   %3 = scalar:int32
;   %4 = multiply %1 %3 :int32 F
;   %5 = add %4 %0 :int32 F
;   store %5 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf0 = alloca i8, i64 256, align 64
  %buf1 = alloca i8, i64 256, align 64
  %buf2 = alloca i8, i64 256, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 10
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = getelementptr i64, ptr %params, i64 11
  %t6 = load i64, ptr %t5, align 8
  %t7 = getelementptr i64, ptr %params, i64 12
  %t8 = load i64, ptr %t7, align 8
  %t9 = getelementptr i64, ptr %params, i64 13
  %t10 = load i64, ptr %t9, align 8
  %t11 = icmp eq i64 %t6, 4
  %t12 = icmp eq i64 %t8, 4
  %t13 = icmp eq i64 %t10, 4
  %t14 = and i1 %t11, %t12
  %t15 = and i1 %t14, %t13
  %t16 = udiv i64 %lo, %n
  %t17 = mul i64 %t16, %n
  %t18 = sub i64 %lo, %t17
  %t19 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t16, ptr %idx, ptr %base, i64 3, i64 14)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t16, %pre], [%r2, %again]
  %start = phi i64 [%t18, %pre], [0, %again]
  %left = phi i64 [%t19, %pre], [%left2, %again]
  %t20 = sub i64 %n, %start
  %t21 = icmp ult i64 %t20, %left
  %t22 = select i1 %t21, i64 %t20, i64 %left
  %t23 = add i64 %start, %t22
  %left2 = sub i64 %left, %t22
  %t24 = getelementptr i64, ptr %base, i64 0
  %t25 = load i64, ptr %t24, align 8
  %t26 = getelementptr i64, ptr %base, i64 1
  %t27 = load i64, ptr %t26, align 8
  %t28 = getelementptr i64, ptr %base, i64 2
  %t29 = load i64, ptr %t28, align 8
  %e2_1 = insertelement <64 x i32> poison, i32 %t4, i64 0
  %e2_2 = shufflevector <64 x i32> %e2_1, <64 x i32> poison, <64 x i32> zeroinitializer
  br label %ppre30
ppre30:
  br label %phead31
phead31:
  %phead31i = phi i64 [%start, %ppre30], [%phead31in, %platch32]
  %t34 = add i64 %phead31i, 64
  %t35 = icmp ule i64 %t34, %t23
  %t36 = and i1 %t35, %t15
  br i1 %t36, label %dir37, label %slow38
dir37:
  %t40 = mul i64 %phead31i, 4
  %t41 = add i64 %t25, %t40
  %t42 = inttoptr i64 %t41 to ptr
  %t43 = mul i64 %phead31i, 4
  %t44 = add i64 %t27, %t43
  %t45 = inttoptr i64 %t44 to ptr
  %t46 = mul i64 %phead31i, 4
  %t47 = add i64 %t29, %t46
  %t48 = inttoptr i64 %t47 to ptr
  br label %body39
slow38:
  %t49 = sub i64 %t23, %phead31i
  %t50 = icmp ult i64 %t49, 64
  %t51 = select i1 %t50, i64 %t49, i64 64
  %t52 = mul i64 %phead31i, %t6
  %t53 = add i64 %t25, %t52
  %t54 = inttoptr i64 %t53 to ptr
  call void @ev_gather4(ptr %buf0, ptr %t54, i64 %t6, i64 %t51)
  %t55 = mul i64 %phead31i, %t8
  %t56 = add i64 %t27, %t55
  %t57 = inttoptr i64 %t56 to ptr
  call void @ev_gather4(ptr %buf1, ptr %t57, i64 %t8, i64 %t51)
  br label %body39
body39:
  %t58 = phi i64 [64, %dir37], [%t51, %slow38]
  %t59 = phi ptr [%t42, %dir37], [%buf0, %slow38]
  %t60 = phi ptr [%t45, %dir37], [%buf1, %slow38]
  %t61 = phi ptr [%t48, %dir37], [%buf2, %slow38]
  %e3_1 = load <64 x i32>, ptr %t59, align 4
  %e3_2 = load <64 x i32>, ptr %t60, align 4
  %e3_3 = mul <64 x i32> %e3_2, %e2_2
  %e3_4 = add <64 x i32> %e3_3, %e3_1
  store <64 x i32> %e3_4, ptr %t61, align 4
  br i1 %t36, label %platch32, label %back62
back62:
  %t63 = mul i64 %phead31i, %t10
  %t64 = add i64 %t29, %t63
  %t65 = inttoptr i64 %t64 to ptr
  call void @ev_scatter4(ptr %buf2, ptr %t65, i64 %t10, i64 %t58)
  br label %platch32
platch32:
  %phead31in = add i64 %phead31i, 64
  %t66 = icmp ult i64 %phead31in, %t23
  br i1 %t66, label %phead31, label %pdone33
pdone33:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t67 = icmp eq i64 %left2, 0
  br i1 %t67, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 14)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
