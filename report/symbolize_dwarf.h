/* What DWARF says about an address: functions with those inlined into them, files and lines. */
#ifndef GMT_REPORT_SYMBOLIZE_DWARF_H
#define GMT_REPORT_SYMBOLIZE_DWARF_H

#include <elfutils/libdwfl.h>

#include "report/report.h"

struct gmt_dwarf;

/* Of a module, which must outlive it. NULL: no memory. */
struct gmt_dwarf *gmt_dwarf_new(Dwfl_Module *module);
void gmt_dwarf_free(struct gmt_dwarf *dwarf);

/* Fills names in; count stays 0 if DWARF knows nothing about the address. Strings are libdw's. */
void gmt_dwarf_names(struct gmt_dwarf *dwarf, GElf_Addr address, struct gmt_names *names);

#endif
