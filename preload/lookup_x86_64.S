/*
 * dlsym, exported. The filter is asked first, with the caller's return address; when it has no
 * answer, control goes to the real dlsym by a jump: glibc finds the caller by its return address,
 * which RTLD_NEXT, RTLD_DEFAULT, RUNPATH and $ORIGIN need unchanged.
 */
#if defined(__x86_64__)
	.text
	.globl	dlsym
	.type	dlsym, @function
	.p2align 4
dlsym:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx
	call	gmt_lookup_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	1f
	ret
1:
	jmp	*gmt_real_dlsym(%rip)
	.cfi_endproc
	.size	dlsym, .-dlsym
#endif
	.section .note.GNU-stack,"",@progbits
