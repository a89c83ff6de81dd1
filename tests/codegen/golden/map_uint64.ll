; kernel map width 32
;   %0 = in.v:uint64
;   %1 = in.v:uint64
;   %2 = out.v:uint64
;   %3 = scalar:uint64
;   %4 = multiply %1 %3 :uint64 F
;   %5 = add %4 %0 :uint64 F
;   store %5 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather8(ptr, ptr, i64, i64)
declare void @ev_scatter8(ptr, ptr, i64, i64)
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
  %t4 = getelementptr i64, ptr %params, i64 11
  %t5 = load i64, ptr %t4, align 8
  %t6 = getelementptr i64, ptr %params, i64 12
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 13
  %t9 = load i64, ptr %t8, align 8
  %t10 = icmp eq i64 %t5, 8
  %t11 = icmp eq i64 %t7, 8
  %t12 = icmp eq i64 %t9, 8
  %t13 = and i1 %t10, %t11
  %t14 = and i1 %t13, %t12
  %t15 = udiv i64 %lo, %n
  %t16 = mul i64 %t15, %n
  %t17 = sub i64 %lo, %t16
  %t18 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t15, ptr %idx, ptr %base, i64 3, i64 14)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t15, %pre], [%r2, %again]
  %start = phi i64 [%t17, %pre], [0, %again]
  %left = phi i64 [%t18, %pre], [%left2, %again]
  %t19 = sub i64 %n, %start
  %t20 = icmp ult i64 %t19, %left
  %t21 = select i1 %t20, i64 %t19, i64 %left
  %t22 = add i64 %start, %t21
  %left2 = sub i64 %left, %t21
  %t23 = getelementptr i64, ptr %base, i64 0
  %t24 = load i64, ptr %t23, align 8
  %t25 = getelementptr i64, ptr %base, i64 1
  %t26 = load i64, ptr %t25, align 8
  %t27 = getelementptr i64, ptr %base, i64 2
  %t28 = load i64, ptr %t27, align 8
  %e2_1 = insertelement <32 x i64> poison, i64 %t3, i64 0
  %e2_2 = shufflevector <32 x i64> %e2_1, <32 x i64> poison, <32 x i32> zeroinitializer
  br label %ppre29
ppre29:
  br label %phead30
phead30:
  %phead30i = phi i64 [%start, %ppre29], [%phead30in, %platch31]
  %t33 = add i64 %phead30i, 32
  %t34 = icmp ule i64 %t33, %t22
  %t35 = and i1 %t34, %t14
  br i1 %t35, label %dir36, label %slow37
dir36:
  %t39 = mul i64 %phead30i, 8
  %t40 = add i64 %t24, %t39
  %t41 = inttoptr i64 %t40 to ptr
  %t42 = mul i64 %phead30i, 8
  %t43 = add i64 %t26, %t42
  %t44 = inttoptr i64 %t43 to ptr
  %t45 = mul i64 %phead30i, 8
  %t46 = add i64 %t28, %t45
  %t47 = inttoptr i64 %t46 to ptr
  br label %body38
slow37:
  %t48 = sub i64 %t22, %phead30i
  %t49 = icmp ult i64 %t48, 32
  %t50 = select i1 %t49, i64 %t48, i64 32
  %t51 = mul i64 %phead30i, %t5
  %t52 = add i64 %t24, %t51
  %t53 = inttoptr i64 %t52 to ptr
  call void @ev_gather8(ptr %buf0, ptr %t53, i64 %t5, i64 %t50)
  %t54 = mul i64 %phead30i, %t7
  %t55 = add i64 %t26, %t54
  %t56 = inttoptr i64 %t55 to ptr
  call void @ev_gather8(ptr %buf1, ptr %t56, i64 %t7, i64 %t50)
  br label %body38
body38:
  %t57 = phi i64 [32, %dir36], [%t50, %slow37]
  %t58 = phi ptr [%t41, %dir36], [%buf0, %slow37]
  %t59 = phi ptr [%t44, %dir36], [%buf1, %slow37]
  %t60 = phi ptr [%t47, %dir36], [%buf2, %slow37]
  %e3_1 = load <32 x i64>, ptr %t58, align 8
  %e3_2 = load <32 x i64>, ptr %t59, align 8
  %e3_3 = mul <32 x i64> %e3_2, %e2_2
  %e3_4 = add <32 x i64> %e3_3, %e3_1
  store <32 x i64> %e3_4, ptr %t60, align 8
  br i1 %t35, label %platch31, label %back61
back61:
  %t62 = mul i64 %phead30i, %t9
  %t63 = add i64 %t28, %t62
  %t64 = inttoptr i64 %t63 to ptr
  call void @ev_scatter8(ptr %buf2, ptr %t64, i64 %t9, i64 %t57)
  br label %platch31
platch31:
  %phead30in = add i64 %phead30i, 32
  %t65 = icmp ult i64 %phead30in, %t22
  br i1 %t65, label %phead30, label %pdone32
pdone32:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t66 = icmp eq i64 %left2, 0
  br i1 %t66, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 14)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
