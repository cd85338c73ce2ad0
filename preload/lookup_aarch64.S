/* dlsym and dlopen, exported; see lookup_x86_64.S. Here the caller's return address is x30. */
#if defined(__aarch64__)
	.text

	.globl	dlsym
	.type	dlsym, %function
	.p2align 4
dlsym:
	.cfi_startproc
	hint	#34
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	stp	x0, x1, [sp, #16]
	mov	x2, x30
	bl	gmt_lookup_dlsym
	mov	x9, x0
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	cbz	x9, 1f
	mov	x0, x9
	ret
1:
	adrp	x16, gmt_next_dlsym
	ldr	x16, [x16, :lo12:gmt_next_dlsym]
	br	x16
	.cfi_endproc
	.size	dlsym, .-dlsym

	.globl	dlopen
	.type	dlopen, %function
	.p2align 4
dlopen:
	.cfi_startproc
	hint	#34
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	str	x0, [sp, #16]
	bl	gmt_lookup_dlopen
	mov	w1, w0
	ldr	x0, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	adrp	x16, gmt_next_dlopen
	ldr	x16, [x16, :lo12:gmt_next_dlopen]
	br	x16
	.cfi_endproc
	.size	dlopen, .-dlopen
#endif
	.section .note.GNU-stack,"",@progbits
