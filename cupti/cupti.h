/*
 * Kernel activity through CUPTI, which is opened at run time and never linked: the recorder works
 * without it. The program's own profiler comes first: where CUPTI is taken, gmtrace stays out.
 */
#ifndef GMT_CUPTI_CUPTI_H
#define GMT_CUPTI_CUPTI_H

/*
 * kernels=cupti: opens libcupti, subscribes, asks for kernel records. After cuInit has succeeded,
 * once, with no lock held. What it comes to (on, busy, absent) is recorded with the reason.
 */
void gmt_cupti_start(void);

/* Takes in the records that are still on their way. While the driver is alive. */
void gmt_cupti_flush(void);

/* In a forked child: CUPTI is the parent's; stays off. */
void gmt_cupti_forked(void);

#endif
