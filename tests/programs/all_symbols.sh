#!/bin/bash
# case: of every entry in every version (driver-symbols.tsv) the answer is the driver's own, but for
# the hook of exactly the ABI that was asked for, where the table has one
. "$(dirname "$0")/script.inc"

simulator_only
command -v nm >/dev/null || exit 77

# Prints what is wrong. With "thunks" the driver's answers are no symbol's address.
cat >check.py <<'PYTHON'
import ctypes, os, re, subprocess, sys

top, tracer, thunks = sys.argv[1], sys.argv[2], "thunks" in sys.argv[3:]
VOID, STR = ctypes.c_void_p, ctypes.c_char_p


class Found(ctypes.Structure):
    _fields_ = [("path", STR), ("base", VOID), ("name", STR), ("address", VOID)]


def function(library, name, result, *arguments):
    entry = getattr(library, name)
    entry.restype, entry.argtypes = result, arguments
    return entry


everything, libc = ctypes.CDLL(None), ctypes.CDLL("libc.so.6")
hooked_dlsym = function(everything, "dlsym", VOID, VOID, STR)
real_dlsym = function(libc, "dlsym", VOID, VOID, STR)
dladdr = function(libc, "dladdr", ctypes.c_int, VOID, ctypes.POINTER(Found))
driver = ctypes.CDLL("libcuda.so.1")._handle

GET = ctypes.CFUNCTYPE(ctypes.c_int, STR, ctypes.POINTER(VOID), ctypes.c_int, ctypes.c_uint64, VOID)
GET_V1 = ctypes.CFUNCTYPE(ctypes.c_int, STR, ctypes.POINTER(VOID), ctypes.c_int, ctypes.c_uint64)
names = {}  # offset in libgmtrace.so: names of functions there
for line in subprocess.check_output(["nm", tracer], text=True).splitlines():
    fields = line.split()
    if len(fields) == 3 and fields[1] in "tT":
        names.setdefault(int(fields[0], 16), set()).add(fields[2])
table = set(re.findall(r"^GMT_(?:ALLOC|FREE|CUSTOM)\((\w+)",
                       open(top + "/preload/driver_apis.def").read(), re.M))
rows = [line.split() for line in open(top + "/tests/sim/driver-symbols.tsv")]
traced = hooked_dlsym(driver, b"cuInit") != real_dlsym(driver, b"cuInit")


def hook_names(address):
    found = Found()
    if not dladdr(address, ctypes.byref(found)) or b"libgmtrace.so" not in found.path:
        return None
    return names.get(address - found.base, {"?"})


def complain(*what):
    print(*what)


def check(what, real, got, symbol, prefix):
    """symbol: which ABI the driver's answer is."""
    if not traced or symbol not in table:
        if got != real:
            complain(what, "is not the driver's own", hook_names(got))
    elif prefix + symbol not in (hook_names(got) or ()):
        complain(what, "should be", prefix + symbol, "and is", hook_names(got))


def answer(get, name, version, flags, status):
    pointer, told = VOID(0x5150), ctypes.c_int(77)
    rc = get(name.encode(), ctypes.byref(pointer), version, flags,
             ctypes.addressof(told) if status else None)
    return rc, pointer.value, told.value if status else None


def answer_v1(get, name, version, flags):
    pointer = VOID(0x5150)
    return get(name.encode(), ctypes.byref(pointer), version, flags), pointer.value


own = {}
for base, version, per_thread, symbol in rows:
    real = real_dlsym(driver, symbol.encode())
    if not real:
        sys.exit(f"the driver has no {symbol}")
    own[real] = symbol
    check(f"dlsym {symbol}", real, hooked_dlsym(driver, symbol.encode()), symbol, "gmt_dl_")
if not thunks and len(own) != 634:
    complain(len(own), "symbols")

real_get = GET(real_dlsym(driver, b"cuGetProcAddress_v2"))
hooked_get = GET(hooked_dlsym(driver, b"cuGetProcAddress_v2"))
real_v1 = GET_V1(real_dlsym(driver, b"cuGetProcAddress"))
hooked_v1 = GET_V1(hooked_dlsym(driver, b"cuGetProcAddress"))
newest = {}  # of the rows that a version and the flags allow


def expected(base, version, flags):
    best = None
    for b, since, twin, symbol in rows:
        if b != base or int(since) > version or (twin == "1" and not flags & 2):
            continue
        key = (int(since), twin)
        if not best or key >= best[0]:
            best = key, symbol
    return best[1] if best else None


for base, since, per_thread, _ in rows:
    for version in {int(since), 13000}:
        for flags in {0, 1, 2 if per_thread == "1" else 0}:
            what = f"{base} {version} {flags}"
            rc, real, told = answer(real_get, base, version, flags, True)
            got_rc, got, got_told = answer(hooked_get, base, version, flags, True)
            if (rc, told) != (got_rc, got_told):
                complain(what, "answers", got_rc, got_told, "instead of", rc, told)
            symbol = own.get(real) if not thunks else expected(base, version, flags)
            check(what, real, got, symbol, "gmt_gp_")
            check(what + " v1", real, answer_v1(hooked_v1, base, version, flags)[1], symbol,
                  "gmt_gp_")

# What is not there: the same answer, whether a status is wanted or not, and nothing is written
# where the driver writes nothing.
for name, version, flags in [("", 0, 0), ("cuNoSuchThing", 12000, 0), ("cuMemAllocAsync", 5000, 0),
                             ("cuCtxCreate", 1000, 0), ("cuMemAlloc", 99000, 0),
                             ("cuMemAlloc", 12000, 64), ("cuMemAlloc_v2", 12000, 0)]:
    for status in (True, False):
        if answer(real_get, name, version, flags, status) != answer(hooked_get, name, version, flags,
                                                                   status):
            complain(name, version, flags, status, "is answered otherwise")
    if answer_v1(real_v1, name, version, flags) != answer_v1(hooked_v1, name, version, flags):
        complain(name, version, flags, "v1 is answered otherwise")
if real_get(b"cuMemAlloc", None, 12000, 0, None) != hooked_get(b"cuMemAlloc", None, 12000, 0, None):
    complain("NULL for the pointer is answered otherwise")
if real_get(None, ctypes.byref(VOID()), 12000, 0, None) != \
        hooked_get(None, ctypes.byref(VOID()), 12000, 0, None):
    complain("NULL for the name is answered otherwise")
print("traced" if traced else "alone")
PYTHON

# Without the tracer the check must find nothing either: it is then right about the driver.
python3 check.py "$TOP" "$TRACER" >alone 2>&1
[ "$(cat alone)" = alone ] || fail "without the tracer: $(head -5 alone)"
traced "" python3 check.py "$TOP" "$TRACER"
expect_status 0 all
expect_silence all
[ "$(cat out)" = traced ] || fail "not as it should be"
GMTSIM_THUNKS=1 traced "" python3 check.py "$TOP" "$TRACER" thunks
expect_status 0 thunks
expect_silence thunks
[ "$(cat out)" = traced ] || fail "by version: not as it should be"
