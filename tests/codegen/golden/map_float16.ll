; kernel map width 64
;   %0 = in.v:float16
;   %1 = in.v:float16
;   %2 = out.v:float16
;   %3 = scalar:float16
;   %4 = multiply %1 %3 :float16 F
;   %5 = add %4 %0 :float16 F
;   store %5 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather2(ptr, ptr, i64, i64)
declare void @ev_scatter2(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf0 = alloca i8, i64 128, align 64
  %buf1 = alloca i8, i64 128, align 64
  %buf2 = alloca i8, i64 128, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 10
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i16
  %t5 = bitcast i16 %t4 to half
  %e1_1 = fpext half %t5 to float
  %t6 = getelementptr i64, ptr %params, i64 11
  %t7 = load i64, ptr %t6, align 8
  %t8 = getelementptr i64, ptr %params, i64 12
  %t9 = load i64, ptr %t8, align 8
  %t10 = getelementptr i64, ptr %params, i64 13
  %t11 = load i64, ptr %t10, align 8
  %t12 = icmp eq i64 %t7, 2
  %t13 = icmp eq i64 %t9, 2
  %t14 = icmp eq i64 %t11, 2
  %t15 = and i1 %t12, %t13
  %t16 = and i1 %t15, %t14
  %t17 = udiv i64 %lo, %n
  %t18 = mul i64 %t17, %n
  %t19 = sub i64 %lo, %t18
  %t20 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t17, ptr %idx, ptr %base, i64 3, i64 14)
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
  %e2_1 = insertelement <64 x float> poison, float %e1_1, i64 0
  %e2_2 = shufflevector <64 x float> %e2_1, <64 x float> poison, <64 x i32> zeroinitializer
  br label %ppre31
ppre31:
  br label %phead32
phead32:
  %phead32i = phi i64 [%start, %ppre31], [%phead32in, %platch33]
  %t35 = add i64 %phead32i, 64
  %t36 = icmp ule i64 %t35, %t24
  %t37 = and i1 %t36, %t16
  br i1 %t37, label %dir38, label %slow39
dir38:
  %t41 = mul i64 %phead32i, 2
  %t42 = add i64 %t26, %t41
  %t43 = inttoptr i64 %t42 to ptr
  %t44 = mul i64 %phead32i, 2
  %t45 = add i64 %t28, %t44
  %t46 = inttoptr i64 %t45 to ptr
  %t47 = mul i64 %phead32i, 2
  %t48 = add i64 %t30, %t47
  %t49 = inttoptr i64 %t48 to ptr
  br label %body40
slow39:
  %t50 = sub i64 %t24, %phead32i
  %t51 = icmp ult i64 %t50, 64
  %t52 = select i1 %t51, i64 %t50, i64 64
  %t53 = mul i64 %phead32i, %t7
  %t54 = add i64 %t26, %t53
  %t55 = inttoptr i64 %t54 to ptr
  call void @ev_gather2(ptr %buf0, ptr %t55, i64 %t7, i64 %t52)
  %t56 = mul i64 %phead32i, %t9
  %t57 = add i64 %t28, %t56
  %t58 = inttoptr i64 %t57 to ptr
  call void @ev_gather2(ptr %buf1, ptr %t58, i64 %t9, i64 %t52)
  br label %body40
body40:
  %t59 = phi i64 [64, %dir38], [%t52, %slow39]
  %t60 = phi ptr [%t43, %dir38], [%buf0, %slow39]
  %t61 = phi ptr [%t46, %dir38], [%buf1, %slow39]
  %t62 = phi ptr [%t49, %dir38], [%buf2, %slow39]
  %e3_1 = load <64 x half>, ptr %t60, align 2
  %e3_2 = load <64 x half>, ptr %t61, align 2
  %e3_3 = fpext <64 x half> %e3_2 to <64 x float>
  %e3_4 = fmul <64 x float> %e3_3, %e2_2
  %e3_5 = fptrunc <64 x float> %e3_4 to <64 x half>
  %e3_6 = fpext <64 x half> %e3_5 to <64 x float>
  %e3_7 = fpext <64 x half> %e3_1 to <64 x float>
  %e3_8 = fadd <64 x float> %e3_6, %e3_7
  %e3_9 = fptrunc <64 x float> %e3_8 to <64 x half>
  %e3_10 = bitcast <64 x half> %e3_9 to <64 x i16>
  %e3_11 = bitcast <64 x i16> %e3_10 to <64 x half>
  store <64 x half> %e3_11, ptr %t62, align 2
  br i1 %t37, label %platch33, label %back63
back63:
  %t64 = mul i64 %phead32i, %t11
  %t65 = add i64 %t30, %t64
  %t66 = inttoptr i64 %t65 to ptr
  call void @ev_scatter2(ptr %buf2, ptr %t66, i64 %t11, i64 %t59)
  br label %platch33
platch33:
  %phead32in = add i64 %phead32i, 64
  %t67 = icmp ult i64 %phead32in, %t24
  br i1 %t67, label %phead32, label %pdone34
pdone34:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t68 = icmp eq i64 %left2, 0
  br i1 %t68, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 14)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
