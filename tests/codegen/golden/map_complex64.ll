; kernel map width 64
;   %0 = in.v:complex64
;   %1 = in.v:complex64
;   %2 = out.v:complex64
;   %3 = scalar:complex64
;   %4 = multiply %1 %3 :complex64 F
;   %5 = add %4 %0 :complex64 F
;   store %5 -> %2
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather8(ptr, ptr, i64, i64)
declare void @ev_scatter8(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 3, align 8
  %buf0 = alloca i8, i64 512, align 64
  %buf1 = alloca i8, i64 512, align 64
  %buf2 = alloca i8, i64 512, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 10
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = lshr i64 %t3, 32
  %t6 = trunc i64 %t5 to i32
  %t7 = bitcast i32 %t4 to float
  %t8 = bitcast i32 %t6 to float
  %t9 = getelementptr i64, ptr %params, i64 11
  %t10 = load i64, ptr %t9, align 8
  %t11 = getelementptr i64, ptr %params, i64 12
  %t12 = load i64, ptr %t11, align 8
  %t13 = getelementptr i64, ptr %params, i64 13
  %t14 = load i64, ptr %t13, align 8
  %t15 = icmp eq i64 %t10, 8
  %t16 = icmp eq i64 %t12, 8
  %t17 = icmp eq i64 %t14, 8
  %t18 = and i1 %t15, %t16
  %t19 = and i1 %t18, %t17
  %t20 = udiv i64 %lo, %n
  %t21 = mul i64 %t20, %n
  %t22 = sub i64 %lo, %t21
  %t23 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t20, ptr %idx, ptr %base, i64 3, i64 14)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t20, %pre], [%r2, %again]
  %start = phi i64 [%t22, %pre], [0, %again]
  %left = phi i64 [%t23, %pre], [%left2, %again]
  %t24 = sub i64 %n, %start
  %t25 = icmp ult i64 %t24, %left
  %t26 = select i1 %t25, i64 %t24, i64 %left
  %t27 = add i64 %start, %t26
  %left2 = sub i64 %left, %t26
  %t28 = getelementptr i64, ptr %base, i64 0
  %t29 = load i64, ptr %t28, align 8
  %t30 = getelementptr i64, ptr %base, i64 1
  %t31 = load i64, ptr %t30, align 8
  %t32 = getelementptr i64, ptr %base, i64 2
  %t33 = load i64, ptr %t32, align 8
  %e2_1 = insertelement <64 x float> poison, float %t7, i64 0
  %e2_2 = shufflevector <64 x float> %e2_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e2_3 = insertelement <64 x float> poison, float %t8, i64 0
  %e2_4 = shufflevector <64 x float> %e2_3, <64 x float> poison, <64 x i32> zeroinitializer
  br label %ppre34
ppre34:
  br label %phead35
phead35:
  %phead35i = phi i64 [%start, %ppre34], [%phead35in, %platch36]
  %t38 = add i64 %phead35i, 64
  %t39 = icmp ule i64 %t38, %t27
  %t40 = and i1 %t39, %t19
  br i1 %t40, label %dir41, label %slow42
dir41:
  %t44 = mul i64 %phead35i, 8
  %t45 = add i64 %t29, %t44
  %t46 = inttoptr i64 %t45 to ptr
  %t47 = mul i64 %phead35i, 8
  %t48 = add i64 %t31, %t47
  %t49 = inttoptr i64 %t48 to ptr
  %t50 = mul i64 %phead35i, 8
  %t51 = add i64 %t33, %t50
  %t52 = inttoptr i64 %t51 to ptr
  br label %body43
slow42:
  %t53 = sub i64 %t27, %phead35i
  %t54 = icmp ult i64 %t53, 64
  %t55 = select i1 %t54, i64 %t53, i64 64
  %t56 = mul i64 %phead35i, %t10
  %t57 = add i64 %t29, %t56
  %t58 = inttoptr i64 %t57 to ptr
  call void @ev_gather8(ptr %buf0, ptr %t58, i64 %t10, i64 %t55)
  %t59 = mul i64 %phead35i, %t12
  %t60 = add i64 %t31, %t59
  %t61 = inttoptr i64 %t60 to ptr
  call void @ev_gather8(ptr %buf1, ptr %t61, i64 %t12, i64 %t55)
  br label %body43
body43:
  %t62 = phi i64 [64, %dir41], [%t55, %slow42]
  %t63 = phi ptr [%t46, %dir41], [%buf0, %slow42]
  %t64 = phi ptr [%t49, %dir41], [%buf1, %slow42]
  %t65 = phi ptr [%t52, %dir41], [%buf2, %slow42]
  %e3_1 = load <128 x float>, ptr %t63, align 4
  %e3_2 = shufflevector <128 x float> %e3_1, <128 x float> poison, <64 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30, i32 32, i32 34, i32 36, i32 38, i32 40, i32 42, i32 44, i32 46, i32 48, i32 50, i32 52, i32 54, i32 56, i32 58, i32 60, i32 62, i32 64, i32 66, i32 68, i32 70, i32 72, i32 74, i32 76, i32 78, i32 80, i32 82, i32 84, i32 86, i32 88, i32 90, i32 92, i32 94, i32 96, i32 98, i32 100, i32 102, i32 104, i32 106, i32 108, i32 110, i32 112, i32 114, i32 116, i32 118, i32 120, i32 122, i32 124, i32 126>
  %e3_3 = shufflevector <128 x float> %e3_1, <128 x float> poison, <64 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31, i32 33, i32 35, i32 37, i32 39, i32 41, i32 43, i32 45, i32 47, i32 49, i32 51, i32 53, i32 55, i32 57, i32 59, i32 61, i32 63, i32 65, i32 67, i32 69, i32 71, i32 73, i32 75, i32 77, i32 79, i32 81, i32 83, i32 85, i32 87, i32 89, i32 91, i32 93, i32 95, i32 97, i32 99, i32 101, i32 103, i32 105, i32 107, i32 109, i32 111, i32 113, i32 115, i32 117, i32 119, i32 121, i32 123, i32 125, i32 127>
  %e3_4 = load <128 x float>, ptr %t64, align 4
  %e3_5 = shufflevector <128 x float> %e3_4, <128 x float> poison, <64 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30, i32 32, i32 34, i32 36, i32 38, i32 40, i32 42, i32 44, i32 46, i32 48, i32 50, i32 52, i32 54, i32 56, i32 58, i32 60, i32 62, i32 64, i32 66, i32 68, i32 70, i32 72, i32 74, i32 76, i32 78, i32 80, i32 82, i32 84, i32 86, i32 88, i32 90, i32 92, i32 94, i32 96, i32 98, i32 100, i32 102, i32 104, i32 106, i32 108, i32 110, i32 112, i32 114, i32 116, i32 118, i32 120, i32 122, i32 124, i32 126>
  %e3_6 = shufflevector <128 x float> %e3_4, <128 x float> poison, <64 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31, i32 33, i32 35, i32 37, i32 39, i32 41, i32 43, i32 45, i32 47, i32 49, i32 51, i32 53, i32 55, i32 57, i32 59, i32 61, i32 63, i32 65, i32 67, i32 69, i32 71, i32 73, i32 75, i32 77, i32 79, i32 81, i32 83, i32 85, i32 87, i32 89, i32 91, i32 93, i32 95, i32 97, i32 99, i32 101, i32 103, i32 105, i32 107, i32 109, i32 111, i32 113, i32 115, i32 117, i32 119, i32 121, i32 123, i32 125, i32 127>
  %e3_7 = fmul <64 x float> %e3_5, %e2_2
  %e3_8 = fmul <64 x float> %e3_6, %e2_4
  %e3_9 = fsub <64 x float> %e3_7, %e3_8
  %e3_10 = fadd <64 x float> %e3_9, %e3_2
  %e3_11 = fmul <64 x float> %e3_5, %e2_4
  %e3_12 = fmul <64 x float> %e3_6, %e2_2
  %e3_13 = fadd <64 x float> %e3_11, %e3_12
  %e3_14 = fadd <64 x float> %e3_13, %e3_3
  %e4_1 = shufflevector <64 x float> %e3_10, <64 x float> %e3_14, <128 x i32> <i32 0, i32 64, i32 1, i32 65, i32 2, i32 66, i32 3, i32 67, i32 4, i32 68, i32 5, i32 69, i32 6, i32 70, i32 7, i32 71, i32 8, i32 72, i32 9, i32 73, i32 10, i32 74, i32 11, i32 75, i32 12, i32 76, i32 13, i32 77, i32 14, i32 78, i32 15, i32 79, i32 16, i32 80, i32 17, i32 81, i32 18, i32 82, i32 19, i32 83, i32 20, i32 84, i32 21, i32 85, i32 22, i32 86, i32 23, i32 87, i32 24, i32 88, i32 25, i32 89, i32 26, i32 90, i32 27, i32 91, i32 28, i32 92, i32 29, i32 93, i32 30, i32 94, i32 31, i32 95, i32 32, i32 96, i32 33, i32 97, i32 34, i32 98, i32 35, i32 99, i32 36, i32 100, i32 37, i32 101, i32 38, i32 102, i32 39, i32 103, i32 40, i32 104, i32 41, i32 105, i32 42, i32 106, i32 43, i32 107, i32 44, i32 108, i32 45, i32 109, i32 46, i32 110, i32 47, i32 111, i32 48, i32 112, i32 49, i32 113, i32 50, i32 114, i32 51, i32 115, i32 52, i32 116, i32 53, i32 117, i32 54, i32 118, i32 55, i32 119, i32 56, i32 120, i32 57, i32 121, i32 58, i32 122, i32 59, i32 123, i32 60, i32 124, i32 61, i32 125, i32 62, i32 126, i32 63, i32 127>
  store <128 x float> %e4_1, ptr %t65, align 4
  br i1 %t40, label %platch36, label %back66
back66:
  %t67 = mul i64 %phead35i, %t14
  %t68 = add i64 %t33, %t67
  %t69 = inttoptr i64 %t68 to ptr
  call void @ev_scatter8(ptr %buf2, ptr %t69, i64 %t14, i64 %t62)
  br label %platch36
platch36:
  %phead35in = add i64 %phead35i, 64
  %t70 = icmp ult i64 %phead35in, %t27
  br i1 %t70, label %phead35, label %pdone37
pdone37:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t71 = icmp eq i64 %left2, 0
  br i1 %t71, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 3, i64 14)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
