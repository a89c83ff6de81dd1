; kernel map width 32
;   %0 = in.v:int64
;   %1 = iota.v:int64
;   %2 = out.v:int64
;   %3 = scalar:int64
;   %4 = scalar:int64
;   %5 = arange ('i32',) %1 %3 %4 :int32 F
;   %6 = astype ('i64',) %5 :int64 F
;   %7 = add %0 %6 :int64 F
;   store %7 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather8(ptr, ptr, i64, i64)
declare void @ev_scatter8(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf0 = alloca i8, i64 256, align 64
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
  %t10 = getelementptr i64, ptr %params, i64 14
  %t11 = load i64, ptr %t10, align 8
  %t12 = icmp eq i64 %t7, 8
  %t13 = icmp eq i64 %t11, 8
  %t14 = and i1 %t12, %t13
  %t15 = udiv i64 %lo, %n
  %t16 = mul i64 %t15, %n
  %t17 = sub i64 %lo, %t16
  %t18 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t15, ptr %idx, ptr %base, i64 3, i64 15)
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
  %e3_1 = insertelement <32 x i64> poison, i64 %t3, i64 0
  %e3_2 = shufflevector <32 x i64> %e3_1, <32 x i64> poison, <32 x i32> zeroinitializer
  %e4_1 = insertelement <32 x i64> poison, i64 %t5, i64 0
  %e4_2 = shufflevector <32 x i64> %e4_1, <32 x i64> poison, <32 x i32> zeroinitializer
  %e5_1 = insertelement <32 x i64> poison, i64 %t9, i64 0
  %e5_2 = shufflevector <32 x i64> %e5_1, <32 x i64> poison, <32 x i32> zeroinitializer
  %t29 = mul <32 x i64> %e5_2, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  br label %ppre30
ppre30:
  br label %phead31
phead31:
  %phead31i = phi i64 [%start, %ppre30], [%phead31in, %platch32]
  %t34 = add i64 %phead31i, 32
  %t35 = icmp ule i64 %t34, %t22
  %t36 = and i1 %t35, %t14
  br i1 %t36, label %dir37, label %slow38
dir37:
  %t40 = mul i64 %phead31i, 8
  %t41 = add i64 %t24, %t40
  %t42 = inttoptr i64 %t41 to ptr
  %t43 = mul i64 %phead31i, 8
  %t44 = add i64 %t28, %t43
  %t45 = inttoptr i64 %t44 to ptr
  br label %body39
slow38:
  %t46 = sub i64 %t22, %phead31i
  %t47 = icmp ult i64 %t46, 32
  %t48 = select i1 %t47, i64 %t46, i64 32
  %t49 = mul i64 %phead31i, %t7
  %t50 = add i64 %t24, %t49
  %t51 = inttoptr i64 %t50 to ptr
  call void @ev_gather8(ptr %buf0, ptr %t51, i64 %t7, i64 %t48)
  br label %body39
body39:
  %t52 = phi i64 [32, %dir37], [%t48, %slow38]
  %t53 = phi ptr [%t42, %dir37], [%buf0, %slow38]
  %t54 = phi ptr [%t45, %dir37], [%buf2, %slow38]
  %e6_1 = load <32 x i64>, ptr %t53, align 8
  %t55 = mul i64 %phead31i, %t9
  %t56 = add i64 %t26, %t55
  %e6_2 = insertelement <32 x i64> poison, i64 %t56, i64 0
  %e6_3 = shufflevector <32 x i64> %e6_2, <32 x i64> poison, <32 x i32> zeroinitializer
  %t57 = add <32 x i64> %e6_3, %t29
  %e6_4 = mul <32 x i64> %t57, %e4_2
  %e6_5 = add <32 x i64> %e3_2, %e6_4
  %e6_6 = trunc <32 x i64> %e6_5 to <32 x i32>
  %e6_7 = sext <32 x i32> %e6_6 to <32 x i64>
  %e6_8 = add <32 x i64> %e6_1, %e6_7
  store <32 x i64> %e6_8, ptr %t54, align 8
  br i1 %t36, label %platch32, label %back58
back58:
  %t59 = mul i64 %phead31i, %t11
  %t60 = add i64 %t28, %t59
  %t61 = inttoptr i64 %t60 to ptr
  call void @ev_scatter8(ptr %buf2, ptr %t61, i64 %t11, i64 %t52)
  br label %platch32
platch32:
  %phead31in = add i64 %phead31i, 32
  %t62 = icmp ult i64 %phead31in, %t22
  br i1 %t62, label %phead31, label %pdone33
pdone33:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t63 = icmp eq i64 %left2, 0
  br i1 %t63, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 15)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
