; kernel map width 64
;   %0 = in.s:float32
;   %1 = in.v:float32
;   %2 = out.v:float32
;   %3 = scalar:float32
;   %4 = multiply %1 %3 :float32 F
;   %5 = add %4 %0 :float32 F
;   store %5 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather4(ptr, ptr, i64, i64)
declare void @ev_scatter4(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf1 = alloca i8, i64 256, align 64
  %buf2 = alloca i8, i64 256, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 10
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = bitcast i32 %t4 to float
  %t6 = getelementptr i64, ptr %params, i64 12
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 13
  %t9 = load i64, ptr %t8, align 8
  %t10 = icmp eq i64 %t7, 4
  %t11 = icmp eq i64 %t9, 4
  %t12 = and i1 %t10, %t11
  %t13 = udiv i64 %lo, %n
  %t14 = mul i64 %t13, %n
  %t15 = sub i64 %lo, %t14
  %t16 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t13, ptr %idx, ptr %base, i64 3, i64 14)
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
  %t27 = inttoptr i64 %t22 to ptr
  %e2_1 = load float, ptr %t27, align 4
  %e3_1 = insertelement <64 x float> poison, float %e2_1, i64 0
  %e3_2 = shufflevector <64 x float> %e3_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e4_1 = insertelement <64 x float> poison, float %t5, i64 0
  %e4_2 = shufflevector <64 x float> %e4_1, <64 x float> poison, <64 x i32> zeroinitializer
  br label %ppre28
ppre28:
  br label %phead29
phead29:
  %phead29i = phi i64 [%start, %ppre28], [%phead29in, %platch30]
  %t32 = add i64 %phead29i, 64
  %t33 = icmp ule i64 %t32, %t20
  %t34 = and i1 %t33, %t12
  br i1 %t34, label %dir35, label %slow36
dir35:
  %t38 = mul i64 %phead29i, 4
  %t39 = add i64 %t24, %t38
  %t40 = inttoptr i64 %t39 to ptr
  %t41 = mul i64 %phead29i, 4
  %t42 = add i64 %t26, %t41
  %t43 = inttoptr i64 %t42 to ptr
  br label %body37
slow36:
  %t44 = sub i64 %t20, %phead29i
  %t45 = icmp ult i64 %t44, 64
  %t46 = select i1 %t45, i64 %t44, i64 64
  %t47 = mul i64 %phead29i, %t7
  %t48 = add i64 %t24, %t47
  %t49 = inttoptr i64 %t48 to ptr
  call void @ev_gather4(ptr %buf1, ptr %t49, i64 %t7, i64 %t46)
  br label %body37
body37:
  %t50 = phi i64 [64, %dir35], [%t46, %slow36]
  %t51 = phi ptr [%t40, %dir35], [%buf1, %slow36]
  %t52 = phi ptr [%t43, %dir35], [%buf2, %slow36]
  %e5_1 = load <64 x float>, ptr %t51, align 4
  %e5_2 = fmul <64 x float> %e5_1, %e4_2
  %e5_3 = fadd <64 x float> %e5_2, %e3_2
  store <64 x float> %e5_3, ptr %t52, align 4
  br i1 %t34, label %platch30, label %back53
back53:
  %t54 = mul i64 %phead29i, %t9
  %t55 = add i64 %t26, %t54
  %t56 = inttoptr i64 %t55 to ptr
  call void @ev_scatter4(ptr %buf2, ptr %t56, i64 %t9, i64 %t50)
  br label %platch30
platch30:
  %phead29in = add i64 %phead29i, 64
  %t57 = icmp ult i64 %phead29in, %t20
  br i1 %t57, label %phead29, label %pdone31
pdone31:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t58 = icmp eq i64 %left2, 0
  br i1 %t58, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 14)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
