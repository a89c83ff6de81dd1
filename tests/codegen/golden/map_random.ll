; kernel map width 64
;   %0 = in.s:uint32
;   %1 = in.s:uint32
;   %2 = iota.v:int64
;   %3 = out.v:bool
;   %4 = scalar:uint32
;   %5 = scalar:uint32
;   %6 = scalar:float32
;   %7 = scalar:float32
;   %8 = scalar:float32
;   %9 = random_bits %0 %1 %2 %4 %5 :uint32 F
;   %10 = astype ('f32',) %9 :float32 F
;   %11 = divide %10 %6 :float32 F
;   %12 = minimum %11 %7 :float32 F
;   %13 = less %12 %8 :bool F
;   store %13 -> %3
declare void @ev_advance(ptr, ptr, ptr, i64, i64)
declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)
declare void @ev_gather1(ptr, ptr, i64, i64)
declare void @ev_scatter1(ptr, ptr, i64, i64)
define void @kernel(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {
entry:
  %idx = alloca i64, i64 64, align 8
  %base = alloca i64, i64 4, align 8
  %buf3 = alloca i8, i64 64, align 64
  %t1 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %params, i64 11
  %t3 = load i64, ptr %t2, align 8
  %t4 = trunc i64 %t3 to i32
  %t5 = getelementptr i64, ptr %params, i64 12
  %t6 = load i64, ptr %t5, align 8
  %t7 = trunc i64 %t6 to i32
  %t8 = getelementptr i64, ptr %params, i64 13
  %t9 = load i64, ptr %t8, align 8
  %t10 = trunc i64 %t9 to i32
  %t11 = bitcast i32 %t10 to float
  %t12 = getelementptr i64, ptr %params, i64 14
  %t13 = load i64, ptr %t12, align 8
  %t14 = trunc i64 %t13 to i32
  %t15 = bitcast i32 %t14 to float
  %t16 = getelementptr i64, ptr %params, i64 15
  %t17 = load i64, ptr %t16, align 8
  %t18 = trunc i64 %t17 to i32
  %t19 = bitcast i32 %t18 to float
  %t20 = getelementptr i64, ptr %params, i64 18
  %t21 = load i64, ptr %t20, align 8
  %t22 = getelementptr i64, ptr %params, i64 19
  %t23 = load i64, ptr %t22, align 8
  %t24 = icmp eq i64 %t23, 1
  %t25 = udiv i64 %lo, %n
  %t26 = mul i64 %t25, %n
  %t27 = sub i64 %lo, %t26
  %t28 = sub i64 %hi, %lo
  call void @ev_decode(ptr %params, i64 %t25, ptr %idx, ptr %base, i64 4, i64 20)
  br label %pre
pre:
  br label %row
row:
  %r = phi i64 [%t25, %pre], [%r2, %again]
  %start = phi i64 [%t27, %pre], [0, %again]
  %left = phi i64 [%t28, %pre], [%left2, %again]
  %t29 = sub i64 %n, %start
  %t30 = icmp ult i64 %t29, %left
  %t31 = select i1 %t30, i64 %t29, i64 %left
  %t32 = add i64 %start, %t31
  %left2 = sub i64 %left, %t31
  %t33 = getelementptr i64, ptr %base, i64 0
  %t34 = load i64, ptr %t33, align 8
  %t35 = getelementptr i64, ptr %base, i64 1
  %t36 = load i64, ptr %t35, align 8
  %t37 = getelementptr i64, ptr %base, i64 2
  %t38 = load i64, ptr %t37, align 8
  %t39 = getelementptr i64, ptr %base, i64 3
  %t40 = load i64, ptr %t39, align 8
  %t41 = inttoptr i64 %t34 to ptr
  %e6_1 = load i32, ptr %t41, align 4
  %t42 = inttoptr i64 %t36 to ptr
  %e7_1 = load i32, ptr %t42, align 4
  %e8_1 = insertelement <64 x i32> poison, i32 %e6_1, i64 0
  %e8_2 = shufflevector <64 x i32> %e8_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %e9_1 = insertelement <64 x i32> poison, i32 %e7_1, i64 0
  %e9_2 = shufflevector <64 x i32> %e9_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %e10_1 = insertelement <64 x i32> poison, i32 %t4, i64 0
  %e10_2 = shufflevector <64 x i32> %e10_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %e11_1 = insertelement <64 x i32> poison, i32 %t7, i64 0
  %e11_2 = shufflevector <64 x i32> %e11_1, <64 x i32> poison, <64 x i32> zeroinitializer
  %e12_1 = insertelement <64 x float> poison, float %t11, i64 0
  %e12_2 = shufflevector <64 x float> %e12_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e13_1 = insertelement <64 x float> poison, float %t15, i64 0
  %e13_2 = shufflevector <64 x float> %e13_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e14_1 = insertelement <64 x float> poison, float %t19, i64 0
  %e14_2 = shufflevector <64 x float> %e14_1, <64 x float> poison, <64 x i32> zeroinitializer
  %e15_1 = insertelement <64 x i64> poison, i64 %t21, i64 0
  %e15_2 = shufflevector <64 x i64> %e15_1, <64 x i64> poison, <64 x i32> zeroinitializer
  %t43 = mul <64 x i64> %e15_2, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31, i64 32, i64 33, i64 34, i64 35, i64 36, i64 37, i64 38, i64 39, i64 40, i64 41, i64 42, i64 43, i64 44, i64 45, i64 46, i64 47, i64 48, i64 49, i64 50, i64 51, i64 52, i64 53, i64 54, i64 55, i64 56, i64 57, i64 58, i64 59, i64 60, i64 61, i64 62, i64 63>
  br label %ppre44
ppre44:
  br label %phead45
phead45:
  %phead45i = phi i64 [%start, %ppre44], [%phead45in, %platch46]
  %t48 = add i64 %phead45i, 64
  %t49 = icmp ule i64 %t48, %t32
  %t50 = and i1 %t49, %t24
  br i1 %t50, label %dir51, label %slow52
dir51:
  %t54 = mul i64 %phead45i, 1
  %t55 = add i64 %t40, %t54
  %t56 = inttoptr i64 %t55 to ptr
  br label %body53
slow52:
  %t57 = sub i64 %t32, %phead45i
  %t58 = icmp ult i64 %t57, 64
  %t59 = select i1 %t58, i64 %t57, i64 64
  br label %body53
body53:
  %t60 = phi i64 [64, %dir51], [%t59, %slow52]
  %t61 = phi ptr [%t56, %dir51], [%buf3, %slow52]
  %t62 = mul i64 %phead45i, %t21
  %t63 = add i64 %t38, %t62
  %e16_1 = insertelement <64 x i64> poison, i64 %t63, i64 0
  %e16_2 = shufflevector <64 x i64> %e16_1, <64 x i64> poison, <64 x i32> zeroinitializer
  %t64 = add <64 x i64> %e16_2, %t43
  %e16_3 = trunc <64 x i64> %t64 to <64 x i32>
  %e16_4 = icmp uge <64 x i32> %e16_3, %e10_2
  %e16_5 = sub <64 x i32> %e16_3, %e10_2
  %e16_6 = select <64 x i1> %e16_4, <64 x i32> %e16_5, <64 x i32> %e16_3
  %e16_7 = icmp eq <64 x i32> %e16_6, %e11_2
  %e16_8 = xor <64 x i32> %e16_6, %e16_6
  %e16_9 = add <64 x i32> %e16_6, %e10_2
  %e16_10 = select <64 x i1> %e16_7, <64 x i32> %e16_8, <64 x i32> %e16_9
  %e16_11 = add <64 x i32> %e16_10, %e9_2
  %e16_12 = shl <64 x i32> %e16_11, splat (i32 13)
  %e16_13 = lshr <64 x i32> %e16_11, splat (i32 19)
  %e16_14 = or <64 x i32> %e16_12, %e16_13
  %e16_15 = add <64 x i32> %e16_6, %e8_2
  %e16_16 = add <64 x i32> %e16_15, %e16_11
  %e16_17 = xor <64 x i32> %e16_14, %e16_16
  %e16_18 = shl <64 x i32> %e16_17, splat (i32 15)
  %e16_19 = lshr <64 x i32> %e16_17, splat (i32 17)
  %e16_20 = or <64 x i32> %e16_18, %e16_19
  %e16_21 = add <64 x i32> %e16_16, %e16_17
  %e16_22 = xor <64 x i32> %e16_20, %e16_21
  %e16_23 = shl <64 x i32> %e16_22, splat (i32 26)
  %e16_24 = lshr <64 x i32> %e16_22, splat (i32 6)
  %e16_25 = or <64 x i32> %e16_23, %e16_24
  %e16_26 = add <64 x i32> %e16_21, %e16_22
  %e16_27 = xor <64 x i32> %e16_25, %e16_26
  %e16_28 = shl <64 x i32> %e16_27, splat (i32 6)
  %e16_29 = lshr <64 x i32> %e16_27, splat (i32 26)
  %e16_30 = or <64 x i32> %e16_28, %e16_29
  %e16_31 = add <64 x i32> %e16_26, %e16_27
  %e16_32 = xor <64 x i32> %e16_30, %e16_31
  %e16_33 = xor <64 x i32> %e8_2, %e9_2
  %e16_34 = xor <64 x i32> %e16_33, splat (i32 466688986)
  %e16_35 = add <64 x i32> %e16_32, %e16_34
  %e16_36 = add <64 x i32> %e16_35, splat (i32 1)
  %e16_37 = shl <64 x i32> %e16_36, splat (i32 17)
  %e16_38 = lshr <64 x i32> %e16_36, splat (i32 15)
  %e16_39 = or <64 x i32> %e16_37, %e16_38
  %e16_40 = add <64 x i32> %e16_31, %e9_2
  %e16_41 = add <64 x i32> %e16_40, %e16_36
  %e16_42 = xor <64 x i32> %e16_39, %e16_41
  %e16_43 = shl <64 x i32> %e16_42, splat (i32 29)
  %e16_44 = lshr <64 x i32> %e16_42, splat (i32 3)
  %e16_45 = or <64 x i32> %e16_43, %e16_44
  %e16_46 = add <64 x i32> %e16_41, %e16_42
  %e16_47 = xor <64 x i32> %e16_45, %e16_46
  %e16_48 = shl <64 x i32> %e16_47, splat (i32 16)
  %e16_49 = lshr <64 x i32> %e16_47, splat (i32 16)
  %e16_50 = or <64 x i32> %e16_48, %e16_49
  %e16_51 = add <64 x i32> %e16_46, %e16_47
  %e16_52 = xor <64 x i32> %e16_50, %e16_51
  %e16_53 = shl <64 x i32> %e16_52, splat (i32 24)
  %e16_54 = lshr <64 x i32> %e16_52, splat (i32 8)
  %e16_55 = or <64 x i32> %e16_53, %e16_54
  %e16_56 = add <64 x i32> %e16_51, %e16_52
  %e16_57 = xor <64 x i32> %e16_55, %e16_56
  %e16_58 = add <64 x i32> %e16_57, %e8_2
  %e16_59 = add <64 x i32> %e16_58, splat (i32 2)
  %e16_60 = shl <64 x i32> %e16_59, splat (i32 13)
  %e16_61 = lshr <64 x i32> %e16_59, splat (i32 19)
  %e16_62 = or <64 x i32> %e16_60, %e16_61
  %e16_63 = add <64 x i32> %e16_56, %e16_34
  %e16_64 = add <64 x i32> %e16_63, %e16_59
  %e16_65 = xor <64 x i32> %e16_62, %e16_64
  %e16_66 = shl <64 x i32> %e16_65, splat (i32 15)
  %e16_67 = lshr <64 x i32> %e16_65, splat (i32 17)
  %e16_68 = or <64 x i32> %e16_66, %e16_67
  %e16_69 = add <64 x i32> %e16_64, %e16_65
  %e16_70 = xor <64 x i32> %e16_68, %e16_69
  %e16_71 = shl <64 x i32> %e16_70, splat (i32 26)
  %e16_72 = lshr <64 x i32> %e16_70, splat (i32 6)
  %e16_73 = or <64 x i32> %e16_71, %e16_72
  %e16_74 = add <64 x i32> %e16_69, %e16_70
  %e16_75 = xor <64 x i32> %e16_73, %e16_74
  %e16_76 = shl <64 x i32> %e16_75, splat (i32 6)
  %e16_77 = lshr <64 x i32> %e16_75, splat (i32 26)
  %e16_78 = or <64 x i32> %e16_76, %e16_77
  %e16_79 = add <64 x i32> %e16_74, %e16_75
  %e16_80 = xor <64 x i32> %e16_78, %e16_79
  %e16_81 = add <64 x i32> %e16_80, %e9_2
  %e16_82 = add <64 x i32> %e16_81, splat (i32 3)
  %e16_83 = shl <64 x i32> %e16_82, splat (i32 17)
  %e16_84 = lshr <64 x i32> %e16_82, splat (i32 15)
  %e16_85 = or <64 x i32> %e16_83, %e16_84
  %e16_86 = add <64 x i32> %e16_79, %e8_2
  %e16_87 = add <64 x i32> %e16_86, %e16_82
  %e16_88 = xor <64 x i32> %e16_85, %e16_87
  %e16_89 = shl <64 x i32> %e16_88, splat (i32 29)
  %e16_90 = lshr <64 x i32> %e16_88, splat (i32 3)
  %e16_91 = or <64 x i32> %e16_89, %e16_90
  %e16_92 = add <64 x i32> %e16_87, %e16_88
  %e16_93 = xor <64 x i32> %e16_91, %e16_92
  %e16_94 = shl <64 x i32> %e16_93, splat (i32 16)
  %e16_95 = lshr <64 x i32> %e16_93, splat (i32 16)
  %e16_96 = or <64 x i32> %e16_94, %e16_95
  %e16_97 = add <64 x i32> %e16_92, %e16_93
  %e16_98 = xor <64 x i32> %e16_96, %e16_97
  %e16_99 = shl <64 x i32> %e16_98, splat (i32 24)
  %e16_100 = lshr <64 x i32> %e16_98, splat (i32 8)
  %e16_101 = or <64 x i32> %e16_99, %e16_100
  %e16_102 = add <64 x i32> %e16_97, %e16_98
  %e16_103 = xor <64 x i32> %e16_101, %e16_102
  %e16_104 = add <64 x i32> %e16_103, %e16_34
  %e16_105 = add <64 x i32> %e16_104, splat (i32 4)
  %e16_106 = shl <64 x i32> %e16_105, splat (i32 13)
  %e16_107 = lshr <64 x i32> %e16_105, splat (i32 19)
  %e16_108 = or <64 x i32> %e16_106, %e16_107
  %e16_109 = add <64 x i32> %e16_102, %e9_2
  %e16_110 = add <64 x i32> %e16_109, %e16_105
  %e16_111 = xor <64 x i32> %e16_108, %e16_110
  %e16_112 = shl <64 x i32> %e16_111, splat (i32 15)
  %e16_113 = lshr <64 x i32> %e16_111, splat (i32 17)
  %e16_114 = or <64 x i32> %e16_112, %e16_113
  %e16_115 = add <64 x i32> %e16_110, %e16_111
  %e16_116 = xor <64 x i32> %e16_114, %e16_115
  %e16_117 = shl <64 x i32> %e16_116, splat (i32 26)
  %e16_118 = lshr <64 x i32> %e16_116, splat (i32 6)
  %e16_119 = or <64 x i32> %e16_117, %e16_118
  %e16_120 = add <64 x i32> %e16_115, %e16_116
  %e16_121 = xor <64 x i32> %e16_119, %e16_120
  %e16_122 = shl <64 x i32> %e16_121, splat (i32 6)
  %e16_123 = lshr <64 x i32> %e16_121, splat (i32 26)
  %e16_124 = or <64 x i32> %e16_122, %e16_123
  %e16_125 = add <64 x i32> %e16_120, %e16_121
  %e16_126 = xor <64 x i32> %e16_124, %e16_125
  %e16_127 = add <64 x i32> %e16_126, %e8_2
  %e16_128 = add <64 x i32> %e16_127, splat (i32 5)
  %e16_129 = add <64 x i32> %e16_125, %e16_34
  %e16_130 = select <64 x i1> %e16_4, <64 x i32> %e16_128, <64 x i32> %e16_129
  %e16_131 = uitofp <64 x i32> %e16_130 to <64 x float>
  %e16_132 = fdiv <64 x float> %e16_131, %e12_2
  %e16_133 = fcmp une <64 x float> %e16_132, %e16_132
  %e16_134 = fcmp olt <64 x float> %e16_132, %e13_2
  %e16_135 = select <64 x i1> %e16_134, <64 x float> %e16_132, <64 x float> %e13_2
  %e16_136 = select <64 x i1> %e16_133, <64 x float> %e16_132, <64 x float> %e16_135
  %e16_137 = fcmp ogt <64 x float> %e14_2, %e16_136
  %e17_1 = zext <64 x i1> %e16_137 to <64 x i8>
  store <64 x i8> %e17_1, ptr %t61, align 1
  br i1 %t50, label %platch46, label %back65
back65:
  %t66 = mul i64 %phead45i, %t23
  %t67 = add i64 %t40, %t66
  %t68 = inttoptr i64 %t67 to ptr
  call void @ev_scatter1(ptr %buf3, ptr %t68, i64 %t23, i64 %t60)
  br label %platch46
platch46:
  %phead45in = add i64 %phead45i, 64
  %t69 = icmp ult i64 %phead45in, %t32
  br i1 %t69, label %phead45, label %pdone47
pdone47:
  br label %next
next:
  %r2 = add i64 %r, 1
  %t70 = icmp eq i64 %left2, 0
  br i1 %t70, label %done, label %again
again:
  call void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 4, i64 20)
  br label %row
done:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
!0 = !{i32 1}
