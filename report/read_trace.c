/*
 * Owns the mapping of a trace while it reads. Every length is checked against what is left of its
 * record, every reference against what was read before; nothing is taken at its word.
 */
#define _GNU_SOURCE
#include "report/read_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "preload/trace.h"
#include "report/read_rows.h"

/* A trace of more is refused: it would not fit the reader. */
#define TRACE_MAX (UINT64_C(64) << 30)

static bool read_header(const char *map, size_t bytes, size_t *offset, const char **problem)
{
	struct gmt_trace_header header;

	if (bytes < sizeof(header) || memcmp(map, GMT_TRACE_MAGIC, sizeof(header.magic)) != 0) {
		*problem = "not a gmtrace trace";
		return false;
	}
	memcpy(&header, map, sizeof(header));
	if (header.byte_order != GMT_BYTE_ORDER) {
		*problem = "written on a machine of the other byte order";
		return false;
	}
	if (header.version != GMT_TRACE_VERSION) {
		*problem = "written by a version that this one cannot read";
		return false;
	}
	if (header.header_bytes < sizeof(header) || header.header_bytes > bytes ||
	    header.header_bytes % 8) {
		*problem = "the header's size is wrong";
		return false;
	}
	*offset = header.header_bytes;
	return true;
}

/* Reads records up to the end, or to the first that is wrong: offset is then where it begins. */
static bool read_all(struct reader *reader, const char *map, size_t bytes, size_t *offset)
{
	struct gmt_trace_record record;

	if (!read_header(map, bytes, offset, &reader->problem))
		return false;
	for (;;) {
		if (bytes - *offset < sizeof(record))
			break;
		memcpy(&record, map + *offset, sizeof(record));
		if (record.type == GMT_TRACE_END)
			return true;
		if (record.bytes < sizeof(record) || record.bytes % 8)
			return gmt_trace_fail(reader, "a record's length is wrong");
		if (record.bytes > bytes - *offset)
			break;
		reader->at = map + *offset + sizeof(record);
		reader->end = map + *offset + record.bytes;
		if (!gmt_trace_read_row(reader, record.type))
			return false;
		*offset += record.bytes;
	}
	return gmt_trace_kept(
		reader, gmt_ledger_note(reader->ledger,
					"the trace ends early: this is the state up to there"));
}

struct gmt_ledger *gmt_trace_read(int fd, struct gmt_arena *arena, char *error, size_t error_bytes)
{
	struct reader reader = { .ledger = gmt_ledger_new(arena) };
	size_t offset = 0;
	struct stat info;
	bool done;
	char *map;

	if (!reader.ledger || fstat(fd, &info) != 0) {
		snprintf(error, error_bytes, "%s",
			 reader.ledger ? strerror(errno) : "out of memory");
		return NULL;
	}
	if (!S_ISREG(info.st_mode) || info.st_size == 0 || (uint64_t)info.st_size > TRACE_MAX) {
		snprintf(error, error_bytes, "not a gmtrace trace");
		return NULL;
	}
	map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		snprintf(error, error_bytes, "%s", strerror(errno));
		return NULL;
	}
	done = read_all(&reader, map, (size_t)info.st_size, &offset);
	munmap(map, (size_t)info.st_size);
	if (done)
		return reader.ledger;
	snprintf(error, error_bytes, "%s, at offset %zu", reader.problem, offset);
	return NULL;
}
