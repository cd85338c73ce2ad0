/* The ledger's account of reserved addresses. Pure, like ledger.c. */
#include "preload/ledger_internal.h"

#include "preload/arena.h"
#include "preload/ledger_vmm.h"

struct gmt_reservation {
	uint64_t addr, bytes;
	UT_hash_handle hh;
};

static struct gmt_reservation *take(struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_reservation *reservation;

	HASH_FIND(hh, ledger->reservations, &addr, sizeof(addr), reservation);
	if (!reservation)
		return NULL;
	HASH_DELETE(hh, ledger->reservations, reservation);
	ledger->vmm.reservations--;
	ledger->vmm.reserved_bytes -= reservation->bytes;
	return reservation;
}

void gmt_ledger_reservation_done(struct gmt_ledger *ledger, struct gmt_reservation *reservation)
{
	gmt_arena_free(ledger->arena, reservation, sizeof(*reservation));
}

bool gmt_ledger_reservation_back(struct gmt_ledger *ledger, struct gmt_reservation *reservation)
{
	if (!reservation)
		return true;
	HASH_ADD(hh, ledger->reservations, addr, sizeof(reservation->addr), reservation);
	if (!reservation->hh.tbl) {
		gmt_ledger_reservation_done(ledger, reservation);
		return false;
	}
	ledger->vmm.reservations++;
	ledger->vmm.reserved_bytes += reservation->bytes;
	return true;
}

bool gmt_ledger_reserve(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes)
{
	struct gmt_reservation *reservation = take(ledger, addr);

	/* What was there was given back unseen. */
	if (!reservation)
		reservation = gmt_arena_zalloc(ledger->arena, sizeof(*reservation));
	if (!reservation)
		return false;
	reservation->addr = addr;
	reservation->bytes = bytes;
	return gmt_ledger_reservation_back(ledger, reservation);
}

void gmt_ledger_unreserve(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes,
			  struct gmt_vmm_claim *claim)
{
	struct gmt_reservation *reservation = take(ledger, addr);

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	/* Only the whole can be given back: the driver will refuse. */
	if (reservation && reservation->bytes != bytes)
		gmt_ledger_reservation_back(ledger, reservation);
	else
		claim->reservation = reservation;
}
