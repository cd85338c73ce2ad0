/*
 * Owns the subscription and what is said about it. Starts and flushes on the application's threads.
 *
 * Nothing is taken down at the end: destructors may still launch, and CUPTI may hang when it is
 * unsubscribed or finalized while the driver goes.
 */
#include "cupti/cupti.h"

#include <stdio.h>

#include "preload/record.h"

#ifdef GMT_NO_CUPTI

void gmt_cupti_start(void)
{
	gmt_record_cupti(GMT_CUPTI_ABSENT);
	gmt_record_note("kernels=cupti: built without CUPTI's headers; GPU times are missing");
}

void gmt_cupti_flush(void)
{
}

void gmt_cupti_forked(void)
{
}

#else

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cupti/activity.h"
#include "cupti/attribute.h"
#include "preload/context.h"

#define TEXT_ROOM   256
#define HOLDER_ROOM 64 /* of the name of who holds the subscription */
#define OUR_NAME    "gmtrace"

enum {
	STATE_OFF,
	STATE_STARTING,
	STATE_ON,
	STATE_PARENT /* forked: CUPTI is the parent's */
};

static struct {
	atomic_int state;
	struct gmt_cupti_api api;
	CUpti_SubscriberHandle handle;
} subscriber;

static void CUPTIAPI on_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *info)
{
	/* No callback is enabled; a subscription must name one. */
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

static void stay_off(enum gmt_cupti state, const char *why)
{
	char text[TEXT_ROOM * 2];

	snprintf(text, sizeof(text), "kernels=cupti: %s; GPU times are missing", why);
	gmt_record_cupti(state);
	gmt_record_note(text);
}

static void explain(const char *entry, CUptiResult rc, int driver, char *reason, size_t room)
{
	const char *name = NULL;

	if (subscriber.api.cuptiGetResultString(rc, &name) != CUPTI_SUCCESS || !name)
		name = "an unknown error";
	snprintf(reason, room, "%s answered %s (libcupti's API version %u, the driver's %d)", entry,
		 name, subscriber.api.version, driver);
}

/* holder: who has the subscription, as CUPTI tells it. */
static CUptiResult subscribe(char holder[HOLDER_ROOM])
{
#if CUPTI_API_VERSION >= 130000
	CUpti_SubscriberParams params = {
		/* As in 13.0: what came later asks for sharing, which is not wanted. */
		.structSize = offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(size_t),
		.subscriberName = OUR_NAME,
		.oldSubscriberName = holder,
		.oldSubscriberSize = HOLDER_ROOM,
	};

	if (subscriber.api.cuptiSubscribe_v2)
		return subscriber.api.cuptiSubscribe_v2(&subscriber.handle, on_callback, NULL,
							&params);
#endif
	(void)holder;
	return subscriber.api.cuptiSubscribe(&subscriber.handle, on_callback, NULL);
}

static void stay_out(const char *holder)
{
	static const char prefix[] = "CUPTI for "; /* CUPTI puts it before the name given */
	char why[TEXT_ROOM];

	if (strncmp(holder, prefix, sizeof(prefix) - 1) == 0)
		holder += sizeof(prefix) - 1;
	/* Who gave no name is "<not provided>" (CUPTI 13.0). */
	if (!*holder || *holder == '<')
		holder = "another tool";
	snprintf(why, sizeof(why), "CUPTI is in use by %s", holder);
	stay_off(GMT_CUPTI_BUSY, why);
}

/* False: CUPTI stays off, and why is recorded. */
static bool start(void)
{
	int driver = gmt_context_driver_version();
	char holder[HOLDER_ROOM] = "";
	char reason[TEXT_ROOM];
	CUptiResult rc;

	if (!gmt_loader_open(driver, &subscriber.api, reason, sizeof(reason))) {
		stay_off(GMT_CUPTI_ABSENT, reason);
		return false;
	}
	rc = subscribe(holder);
	holder[HOLDER_ROOM - 1] = '\0';
	if (rc == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
		stay_out(holder);
		return false;
	}
	if (rc != CUPTI_SUCCESS) {
		explain("cuptiSubscribe", rc, driver, reason, sizeof(reason));
		stay_off(GMT_CUPTI_ABSENT, reason);
		return false;
	}
	rc = gmt_activity_start(&subscriber.api);
	if (rc != CUPTI_SUCCESS) {
		explain("cuptiActivityEnable", rc, driver, reason, sizeof(reason));
		subscriber.api.cuptiUnsubscribe(subscriber.handle);
		stay_off(GMT_CUPTI_ABSENT, reason);
		return false;
	}
	gmt_record_cupti(GMT_CUPTI_ON);
	return true;
}

void gmt_cupti_start(void)
{
	int expected = STATE_OFF;
	int saved = errno;

	if (atomic_compare_exchange_strong(&subscriber.state, &expected, STATE_STARTING))
		atomic_store(&subscriber.state, start() ? STATE_ON : STATE_OFF);
	else if (expected == STATE_PARENT)
		stay_off(GMT_CUPTI_ABSENT, "CUPTI was started before the process forked");
	errno = saved;
}

void gmt_cupti_flush(void)
{
	char text[TEXT_ROOM];
	int saved = errno;

	if (atomic_load(&subscriber.state) != STATE_ON)
		return;
	gmt_activity_flush();
	/* A GPU that is newer than this CUPTI is not an error to it: it is silent. */
	if (!gmt_attribute_records())
		gmt_record_note("kernels=cupti: CUPTI told of no kernel: none has ended, or this "
				"CUPTI does not know the GPU");
	if (gmt_attribute_untimed()) {
		snprintf(text, sizeof(text),
			 "kernels=cupti: %" PRIu64 " of %" PRIu64
			 " kernel records had no times; GPU times are too low",
			 gmt_attribute_untimed(), gmt_attribute_records());
		gmt_record_note(text);
	}
	errno = saved;
}

void gmt_cupti_forked(void)
{
	if (atomic_load(&subscriber.state) != STATE_OFF)
		atomic_store(&subscriber.state, STATE_PARENT);
}

#endif
