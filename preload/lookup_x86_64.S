/*
 * dlsym and dlopen, exported. A filter is asked first; then control goes to the next one by a jump,
 * so that glibc sees the caller's own return address: it finds RTLD_NEXT, RTLD_DEFAULT's scope,
 * RUNPATH and $ORIGIN by it.
 */
#if defined(__x86_64__)
	.text

	/* The filter's answer, if it has one, is the result. */
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
	jmp	*gmt_next_dlsym(%rip)
	.cfi_endproc
	.size	dlsym, .-dlsym

	/* The filter's answer is the flags to go on with. */
	.globl	dlopen
	.type	dlopen, @function
	.p2align 4
dlopen:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	call	gmt_lookup_dlopen
	movl	%eax, %esi
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*gmt_next_dlopen(%rip)
	.cfi_endproc
	.size	dlopen, .-dlopen
#endif
	.section .note.GNU-stack,"",@progbits
