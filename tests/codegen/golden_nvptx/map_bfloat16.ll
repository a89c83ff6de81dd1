target triple = "nvptx64-nvidia-cuda"
@eutectic_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @map_bfloat16(ptr %params, i64 %total) #0 {
entry:
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t6 = zext i32 %t5 to i64
  %t7 = getelementptr i64, ptr %params, i64 0
  %n = load i64, ptr %t7
  %t8 = getelementptr i64, ptr %params, i64 10
  %t9 = load i64, ptr %t8, align 8
  %t10 = trunc i64 %t9 to i16
  %e1_1 = zext i16 %t10 to i32
  %e1_2 = shl i32 %e1_1, 16
  %e1_3 = bitcast i32 %e1_2 to float
  %t11 = getelementptr i64, ptr %params, i64 11
  %t12 = load i64, ptr %t11, align 8
  %t13 = getelementptr i64, ptr %params, i64 12
  %t14 = load i64, ptr %t13, align 8
  %t15 = getelementptr i64, ptr %params, i64 13
  %t16 = load i64, ptr %t15, align 8
  %t17 = mul i64 %t4, 4
  %t18 = mul i64 %t6, %t17
  %t19 = add i64 %t18, %t2
  %t20 = mul i64 %t4, 1
  %t21 = add i64 %t19, %t20
  %t22 = mul i64 %t4, 2
  %t23 = add i64 %t19, %t22
  %t24 = mul i64 %t4, 3
  %t25 = add i64 %t19, %t24
  %t26 = sub i64 %total, 1
  %t27 = icmp slt i64 %t19, %t26
  %t28 = select i1 %t27, i64 %t19, i64 %t26
  %t29 = getelementptr i64, ptr %params, i64 7
  %t30 = load i64, ptr %t29, align 8
  %t31 = getelementptr i64, ptr %params, i64 8
  %t32 = load i64, ptr %t31, align 8
  %t33 = getelementptr i64, ptr %params, i64 9
  %t34 = load i64, ptr %t33, align 8
  %t35 = sub i64 %total, 1
  %t36 = icmp slt i64 %t21, %t35
  %t37 = select i1 %t36, i64 %t21, i64 %t35
  %t38 = getelementptr i64, ptr %params, i64 7
  %t39 = load i64, ptr %t38, align 8
  %t40 = getelementptr i64, ptr %params, i64 8
  %t41 = load i64, ptr %t40, align 8
  %t42 = getelementptr i64, ptr %params, i64 9
  %t43 = load i64, ptr %t42, align 8
  %t44 = sub i64 %total, 1
  %t45 = icmp slt i64 %t23, %t44
  %t46 = select i1 %t45, i64 %t23, i64 %t44
  %t47 = getelementptr i64, ptr %params, i64 7
  %t48 = load i64, ptr %t47, align 8
  %t49 = getelementptr i64, ptr %params, i64 8
  %t50 = load i64, ptr %t49, align 8
  %t51 = getelementptr i64, ptr %params, i64 9
  %t52 = load i64, ptr %t51, align 8
  %t53 = sub i64 %total, 1
  %t54 = icmp slt i64 %t25, %t53
  %t55 = select i1 %t54, i64 %t25, i64 %t53
  %t56 = getelementptr i64, ptr %params, i64 7
  %t57 = load i64, ptr %t56, align 8
  %t58 = getelementptr i64, ptr %params, i64 8
  %t59 = load i64, ptr %t58, align 8
  %t60 = getelementptr i64, ptr %params, i64 9
  %t61 = load i64, ptr %t60, align 8
  %t62 = mul i64 %t28, %t12
  %t63 = add i64 %t30, %t62
  %t64 = inttoptr i64 %t63 to ptr addrspace(1)
  %t65 = addrspacecast ptr addrspace(1) %t64 to ptr
  %e3_1 = load i16, ptr %t65, align 2
  %t66 = mul i64 %t28, %t14
  %t67 = add i64 %t32, %t66
  %t68 = inttoptr i64 %t67 to ptr addrspace(1)
  %t69 = addrspacecast ptr addrspace(1) %t68 to ptr
  %e4_1 = load i16, ptr %t69, align 2
  %t70 = mul i64 %t37, %t12
  %t71 = add i64 %t39, %t70
  %t72 = inttoptr i64 %t71 to ptr addrspace(1)
  %t73 = addrspacecast ptr addrspace(1) %t72 to ptr
  %e5_1 = load i16, ptr %t73, align 2
  %t74 = mul i64 %t37, %t14
  %t75 = add i64 %t41, %t74
  %t76 = inttoptr i64 %t75 to ptr addrspace(1)
  %t77 = addrspacecast ptr addrspace(1) %t76 to ptr
  %e6_1 = load i16, ptr %t77, align 2
  %t78 = mul i64 %t46, %t12
  %t79 = add i64 %t48, %t78
  %t80 = inttoptr i64 %t79 to ptr addrspace(1)
  %t81 = addrspacecast ptr addrspace(1) %t80 to ptr
  %e7_1 = load i16, ptr %t81, align 2
  %t82 = mul i64 %t46, %t14
  %t83 = add i64 %t50, %t82
  %t84 = inttoptr i64 %t83 to ptr addrspace(1)
  %t85 = addrspacecast ptr addrspace(1) %t84 to ptr
  %e8_1 = load i16, ptr %t85, align 2
  %t86 = mul i64 %t55, %t12
  %t87 = add i64 %t57, %t86
  %t88 = inttoptr i64 %t87 to ptr addrspace(1)
  %t89 = addrspacecast ptr addrspace(1) %t88 to ptr
  %e9_1 = load i16, ptr %t89, align 2
  %t90 = mul i64 %t55, %t14
  %t91 = add i64 %t59, %t90
  %t92 = inttoptr i64 %t91 to ptr addrspace(1)
  %t93 = addrspacecast ptr addrspace(1) %t92 to ptr
  %e10_1 = load i16, ptr %t93, align 2
  %e2_1 = zext i16 %e4_1 to i32
  %e2_2 = shl i32 %e2_1, 16
  %e2_3 = bitcast i32 %e2_2 to float
  %e2_4 = fmul float %e2_3, %e1_3
  %e2_5 = fcmp une float %e2_4, %e2_4
  %e2_6 = bitcast float %e2_4 to i32
  %e2_7 = or i32 %e2_6, 4194304
  %e2_8 = lshr i32 %e2_6, 16
  %e2_9 = and i32 %e2_8, 1
  %e2_10 = add i32 %e2_9, 32767
  %e2_11 = add i32 %e2_6, %e2_10
  %e2_12 = select i1 %e2_5, i32 %e2_7, i32 %e2_11
  %e2_13 = and i32 %e2_12, 4294901760
  %e2_14 = bitcast i32 %e2_13 to float
  %e2_15 = zext i16 %e3_1 to i32
  %e2_16 = shl i32 %e2_15, 16
  %e2_17 = bitcast i32 %e2_16 to float
  %e2_18 = fadd float %e2_14, %e2_17
  %e2_19 = fcmp une float %e2_18, %e2_18
  %e2_20 = bitcast float %e2_18 to i32
  %e2_21 = or i32 %e2_20, 4194304
  %e2_22 = lshr i32 %e2_20, 16
  %e2_23 = and i32 %e2_22, 1
  %e2_24 = add i32 %e2_23, 32767
  %e2_25 = add i32 %e2_20, %e2_24
  %e2_26 = select i1 %e2_19, i32 %e2_21, i32 %e2_25
  %e2_27 = and i32 %e2_26, 4294901760
  %e2_28 = bitcast i32 %e2_27 to float
  %e2_29 = bitcast float %e2_28 to i32
  %e2_30 = lshr i32 %e2_29, 16
  %e2_31 = trunc i32 %e2_30 to i16
  %e2_32 = zext i16 %e6_1 to i32
  %e2_33 = shl i32 %e2_32, 16
  %e2_34 = bitcast i32 %e2_33 to float
  %e2_35 = fmul float %e2_34, %e1_3
  %e2_36 = fcmp une float %e2_35, %e2_35
  %e2_37 = bitcast float %e2_35 to i32
  %e2_38 = or i32 %e2_37, 4194304
  %e2_39 = lshr i32 %e2_37, 16
  %e2_40 = and i32 %e2_39, 1
  %e2_41 = add i32 %e2_40, 32767
  %e2_42 = add i32 %e2_37, %e2_41
  %e2_43 = select i1 %e2_36, i32 %e2_38, i32 %e2_42
  %e2_44 = and i32 %e2_43, 4294901760
  %e2_45 = bitcast i32 %e2_44 to float
  %e2_46 = zext i16 %e5_1 to i32
  %e2_47 = shl i32 %e2_46, 16
  %e2_48 = bitcast i32 %e2_47 to float
  %e2_49 = fadd float %e2_45, %e2_48
  %e2_50 = fcmp une float %e2_49, %e2_49
  %e2_51 = bitcast float %e2_49 to i32
  %e2_52 = or i32 %e2_51, 4194304
  %e2_53 = lshr i32 %e2_51, 16
  %e2_54 = and i32 %e2_53, 1
  %e2_55 = add i32 %e2_54, 32767
  %e2_56 = add i32 %e2_51, %e2_55
  %e2_57 = select i1 %e2_50, i32 %e2_52, i32 %e2_56
  %e2_58 = and i32 %e2_57, 4294901760
  %e2_59 = bitcast i32 %e2_58 to float
  %e2_60 = bitcast float %e2_59 to i32
  %e2_61 = lshr i32 %e2_60, 16
  %e2_62 = trunc i32 %e2_61 to i16
  %e2_63 = zext i16 %e8_1 to i32
  %e2_64 = shl i32 %e2_63, 16
  %e2_65 = bitcast i32 %e2_64 to float
  %e2_66 = fmul float %e2_65, %e1_3
  %e2_67 = fcmp une float %e2_66, %e2_66
  %e2_68 = bitcast float %e2_66 to i32
  %e2_69 = or i32 %e2_68, 4194304
  %e2_70 = lshr i32 %e2_68, 16
  %e2_71 = and i32 %e2_70, 1
  %e2_72 = add i32 %e2_71, 32767
  %e2_73 = add i32 %e2_68, %e2_72
  %e2_74 = select i1 %e2_67, i32 %e2_69, i32 %e2_73
  %e2_75 = and i32 %e2_74, 4294901760
  %e2_76 = bitcast i32 %e2_75 to float
  %e2_77 = zext i16 %e7_1 to i32
  %e2_78 = shl i32 %e2_77, 16
  %e2_79 = bitcast i32 %e2_78 to float
  %e2_80 = fadd float %e2_76, %e2_79
  %e2_81 = fcmp une float %e2_80, %e2_80
  %e2_82 = bitcast float %e2_80 to i32
  %e2_83 = or i32 %e2_82, 4194304
  %e2_84 = lshr i32 %e2_82, 16
  %e2_85 = and i32 %e2_84, 1
  %e2_86 = add i32 %e2_85, 32767
  %e2_87 = add i32 %e2_82, %e2_86
  %e2_88 = select i1 %e2_81, i32 %e2_83, i32 %e2_87
  %e2_89 = and i32 %e2_88, 4294901760
  %e2_90 = bitcast i32 %e2_89 to float
  %e2_91 = bitcast float %e2_90 to i32
  %e2_92 = lshr i32 %e2_91, 16
  %e2_93 = trunc i32 %e2_92 to i16
  %e2_94 = zext i16 %e10_1 to i32
  %e2_95 = shl i32 %e2_94, 16
  %e2_96 = bitcast i32 %e2_95 to float
  %e2_97 = fmul float %e2_96, %e1_3
  %e2_98 = fcmp une float %e2_97, %e2_97
  %e2_99 = bitcast float %e2_97 to i32
  %e2_100 = or i32 %e2_99, 4194304
  %e2_101 = lshr i32 %e2_99, 16
  %e2_102 = and i32 %e2_101, 1
  %e2_103 = add i32 %e2_102, 32767
  %e2_104 = add i32 %e2_99, %e2_103
  %e2_105 = select i1 %e2_98, i32 %e2_100, i32 %e2_104
  %e2_106 = and i32 %e2_105, 4294901760
  %e2_107 = bitcast i32 %e2_106 to float
  %e2_108 = zext i16 %e9_1 to i32
  %e2_109 = shl i32 %e2_108, 16
  %e2_110 = bitcast i32 %e2_109 to float
  %e2_111 = fadd float %e2_107, %e2_110
  %e2_112 = fcmp une float %e2_111, %e2_111
  %e2_113 = bitcast float %e2_111 to i32
  %e2_114 = or i32 %e2_113, 4194304
  %e2_115 = lshr i32 %e2_113, 16
  %e2_116 = and i32 %e2_115, 1
  %e2_117 = add i32 %e2_116, 32767
  %e2_118 = add i32 %e2_113, %e2_117
  %e2_119 = select i1 %e2_112, i32 %e2_114, i32 %e2_118
  %e2_120 = and i32 %e2_119, 4294901760
  %e2_121 = bitcast i32 %e2_120 to float
  %e2_122 = bitcast float %e2_121 to i32
  %e2_123 = lshr i32 %e2_122, 16
  %e2_124 = trunc i32 %e2_123 to i16
  %t94 = mul i64 %t28, %t16
  %t95 = add i64 %t34, %t94
  %t96 = icmp ult i64 %t19, %total
  br i1 %t96, label %put97, label %puts98
put97:
  %t99 = inttoptr i64 %t95 to ptr addrspace(1)
  %t100 = addrspacecast ptr addrspace(1) %t99 to ptr
  store i16 %e2_31, ptr %t100, align 2
  br label %puts98
puts98:
  %t101 = mul i64 %t37, %t16
  %t102 = add i64 %t43, %t101
  %t103 = icmp ult i64 %t21, %total
  br i1 %t103, label %put104, label %puts105
put104:
  %t106 = inttoptr i64 %t102 to ptr addrspace(1)
  %t107 = addrspacecast ptr addrspace(1) %t106 to ptr
  store i16 %e2_62, ptr %t107, align 2
  br label %puts105
puts105:
  %t108 = mul i64 %t46, %t16
  %t109 = add i64 %t52, %t108
  %t110 = icmp ult i64 %t23, %total
  br i1 %t110, label %put111, label %puts112
put111:
  %t113 = inttoptr i64 %t109 to ptr addrspace(1)
  %t114 = addrspacecast ptr addrspace(1) %t113 to ptr
  store i16 %e2_93, ptr %t114, align 2
  br label %puts112
puts112:
  %t115 = mul i64 %t55, %t16
  %t116 = add i64 %t61, %t115
  %t117 = icmp ult i64 %t25, %total
  br i1 %t117, label %put118, label %puts119
put118:
  %t120 = inttoptr i64 %t116 to ptr addrspace(1)
  %t121 = addrspacecast ptr addrspace(1) %t120 to ptr
  store i16 %e2_124, ptr %t121, align 2
  br label %puts119
puts119:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="256" }
