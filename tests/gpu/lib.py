"""What the tests with real frameworks share.

A test is a file of workloads and checks. A workload is a function that runs in a process of its
own, first without the tracer and then with it; it hands the framework's own figures to its check
with tell(). What holds for every workload is checked here: same stdout and status, of gmtrace
only the summary on stderr, a report from this one process alone, and no event lost.

	def work(): ...          # import the framework here, print results, tell(reserved=...)
	def check(run): ...      # run.equal("what", run.of("libc10_cuda").live, run.told["reserved"])
	lib.main("torch", lib.Case(work, check))

Prints nothing on success; on failure all figures that were compared, and what else may explain
them. `BUILD=... tests/gpu/NAME.py -v` prints them always.
"""
import collections
import ctypes
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
LIMIT_S = 110  # of one process; a test has 240 s
SKIP = 77
KEPT = 12345  # what each program in C leaks: library.h

Case = collections.namedtuple("Case", "work check env", defaults=({},))
Blocks = collections.namedtuple("Blocks", "allocations frees live total")


class Skip(Exception):
    """Why a test says nothing."""


class Wrong(Exception):
    """Why a test failed, as its reader shall see it."""


# Inside a workload.

def tell(**figures):
    """Hands figures to the check; told again, a figure is replaced."""
    path = os.environ["FIGURES"]
    told = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    told.update(figures)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)


def keep(*objects):
    """Keeps them alive beyond the end of the interpreter, so that their memory stays live."""
    for one in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))


def leave():
    """exit(3): ends without Python's finalisation, in which some frameworks free what is kept."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.PyDLL(None).exit(0)


# Processes.

class Process:
    """A finished process: status, out, err, told (its figures), reports ({name: text})."""

    def __init__(self, command, env, tracer, scratch):
        name = "traced" if tracer else "plain"
        directory = os.path.join(scratch, name)
        self.directory = directory
        os.mkdir(directory)
        env = {**clean_environment(), **env, "FIGURES": os.path.join(scratch, name + ".told")}
        # A compiler that a framework starts shall start in both runs.
        for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUPY_CACHE_DIR",
                         "NUMBA_CACHE_DIR"):
            env[variable] = os.path.join(scratch, name + ".cache", variable)
        if tracer:
            env["LD_PRELOAD"] = os.path.join(BUILD, "libgmtrace.so")
            env["GMTRACE_OPTIONS"] = f"report={directory}/%p.txt:json={directory}/%p.json"
        with subprocess.Popen(command, env=env, cwd=scratch, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise Wrong(f"{name}: still running after {LIMIT_S} s\n"
                            + last_lines(out, err)) from None
        self.name, self.pid, self.status = name, process.pid, process.returncode
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")
        self.told = {}
        if os.path.exists(env["FIGURES"]):
            with open(env["FIGURES"], encoding="utf-8") as file:
                self.told = json.load(file)
        self.reports = {}
        for path in glob.glob(directory + "/*"):
            with open(path, encoding="utf-8") as file:
                self.reports[os.path.basename(path)] = file.read()


def clean_environment():
    return {key: value for key, value in os.environ.items()
            if not key.startswith(("GMT", "LD_PRELOAD"))}


def last_lines(out, err, count=25):
    return "\n".join(part.decode(errors="replace") if isinstance(part, bytes) else part
                     for text in (out, err) for part in text.splitlines()[-count:])


def both(command, env, scratch):
    """(plain, traced): the command without and with the tracer, which must not change it."""
    plain = Process(command, env, False, scratch)
    if plain.status == SKIP:
        raise Skip(last_lines(plain.out, plain.err))
    if plain.status:
        raise Wrong(f"without gmtrace the workload ends with status {plain.status}\n"
                    + last_lines(plain.out, plain.err))
    traced = Process(command, env, True, scratch)
    if traced.status != plain.status:
        raise Wrong(f"status {traced.status} under gmtrace\n" + last_lines(traced.out, traced.err))
    if traced.out != plain.out:
        raise Wrong(f"stdout differs\n--- without gmtrace\n{plain.out}"
                    f"--- with it\n{traced.out}")
    return plain, traced


class Run:
    """A workload that ran without and with the tracer: what it told, and what gmtrace reported."""

    def __init__(self, name, command, env, scratch):
        self.name, self.compared = name, []
        self.plain, self.traced = both(command, env, scratch)
        self.told = self.traced.told
        expected = {f"{self.traced.pid}.json", f"{self.traced.pid}.txt"}
        if set(self.traced.reports) != expected:
            raise Wrong(f"reports {sorted(self.traced.reports)},"
                        f" expected {sorted(expected)}\n"
                        + last_lines(self.traced.out, self.traced.err))
        # The report goes to a file, its last line to stderr as well.
        ours = [line for line in self.traced.err.splitlines() if "gmtrace: " in line]
        if len(ours) != 1 or not ours[0].startswith("gmtrace: SUMMARY: "):
            raise Wrong("gmtrace's part of stderr is not its summary alone\n" + "\n".join(ours))
        self.text = self.traced.reports[f"{self.traced.pid}.txt"]
        self.report = json.loads(self.traced.reports[f"{self.traced.pid}.json"])
        self.kinds = self.report["kinds"]
        self.passed_through = self.report["coverage"]["passed_through"]
        self.check_report()

    def check_report(self):
        report = self.report
        self.equal("events lost", report["coverage"]["dropped_events"], 0)
        self.equal("status in the report", report["process"]["status"], 0)
        self.equal("allocations of all kinds, and of all sites", report["totals"]["allocations"],
                   sum(site["allocations"] for site in report["sites"]))
        self.equal("live bytes of all kinds, and of all sites",
                   sum(kind["live_bytes"] for kind in self.kinds.values()),
                   sum(site["live_bytes"] for site in report["sites"]))
        self.true("the text report has its verdict and coverage",
                  self.text.startswith("gmtrace: ") and "\nCoverage\n" in self.text)

    def equal(self, what, gmtrace, framework):
        self.compared.append((gmtrace == framework, f"{what}: {gmtrace} and {framework}"))

    def true(self, what, holds):
        self.compared.append((bool(holds), what))

    def of(self, module):
        """The blocks whose innermost frame, without driver and runtime, is in such a module."""
        found = [site for site in self.report["sites"] if re.search(module, caller(site))]
        return Blocks(sum(site["allocations"] for site in found),
                      sum(site["frees"] for site in found),
                      sum(site["live_bytes"] for site in found),
                      sum(site["total_bytes"] for site in found))

    def sizes(self, module=""):
        """{size: blocks} of the live blocks of such a module."""
        sizes = collections.Counter()
        for leak in self.report["leaks"]:
            if re.search(module, caller(leak)):
                for size in leak["sizes"]:
                    sizes[size["size"]] += size["blocks"]
        return sizes

    def share_of_peak(self, module, device=0):
        """The bytes of such a module at the highest moment of a device."""
        for peak in self.report["peaks"]:
            if peak["device"] == device:
                return sum(share["bytes"] for share in peak["sites"]
                           if re.search(module, caller(share)))
        return 0

    def kernel(self, name):
        """The launches of the kernels whose name holds this one."""
        return sum(kernel["launches"] for kernel in self.report["kernels"]
                   if name in kernel["name"])

    def accounted_or_passed(self, entry, what, gmtrace, framework):
        """An entry that is not hooked yet is named as passed through; otherwise figures agree."""
        if entry in self.passed_through:
            self.compared.append((True, f"{entry} is passed through; {what}: {gmtrace}"
                                        f" and {framework}"))
        else:
            self.equal(what, gmtrace, framework)

    def failed(self):
        return not all(good for good, _ in self.compared)

    def figures(self):
        """All that was compared, and what may explain it."""
        coverage = self.report["coverage"]
        yield f"{self.name}:"
        for good, what in self.compared:
            yield f"  {'ok   ' if good else 'WRONG'} {what}"
        yield f"  told: {json.dumps(self.told)}"
        yield f"  devices: " + "; ".join(
            f"{device['ordinal']} live {device['live_bytes']} peak {device['peak_bytes']}"
            for device in self.report["devices"])
        for name, kind in self.kinds.items():
            if kind["allocations"]:
                yield f"  kind {name}: {json.dumps(kind)}"
        for name in sorted({caller(site) for site in self.report["sites"]}):
            blocks = self.of("^" + re.escape(name) + "$")
            yield (f"  by {name}: {blocks.allocations} allocations, {blocks.frees} frees,"
                   f" live {blocks.live}, total {blocks.total},"
                   f" of the peak {self.share_of_peak('^' + re.escape(name) + '$')}")
        for pool in self.report["fragmentation"]["pools"]:
            yield f"  pool {json.dumps(pool)}"
        yield (f"  routes {json.dumps(coverage['routes'])}, unwind failures"
               f" {coverage['unwind_failures']}, notes {coverage['notes']}")


def caller(site):
    """The path of the module that asked for the memory; "?" without a stack."""
    return (site["stack"] and site["stack"][0]["module"]) or "?"


# C programs, compiled here.

def roots():
    """Where CUDA's headers and libraries lie: the toolkit, and the wheels of Python."""
    found = [os.environ.get("CUDA_HOME", "/usr/local/cuda"), "/usr/local/cuda", "/usr"]
    for directory in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path}:
        found += sorted(glob.glob(os.path.join(directory, "nvidia", "*")))
    return list(dict.fromkeys(path for path in found if os.path.isdir(path)))


def find_library(name, header):
    """(directory of headers, path of the shared library) of one root; Skip if there is none."""
    for root in roots():
        for end in ("lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"):
            found = sorted(glob.glob(os.path.join(root, end, f"lib{name}.so*")))
            if found and os.path.exists(os.path.join(root, "include", header)):
                return os.path.join(root, "include"), found[0]
    raise Skip(f"lib{name} with {header} is not installed")


def compile_program(source, libraries, scratch):
    """Compiles tests/gpu/SOURCE with {library: header}; the path of the program."""
    program = os.path.join(scratch, source.rsplit(".", 1)[0])
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise Skip("there is no C compiler")
    found = [find_library(name, header) for name, header in libraries.items()]
    command = [*compiler.split(), "-std=gnu11", "-g", "-O0", "-o", program,
               os.path.join(TOP, "tests/gpu", source), "-Wl,--disable-new-dtags"]
    for include, library in found:
        command += ["-isystem", include, library, "-Wl,-rpath," + os.path.dirname(library)]
    made = subprocess.run(command + ["-lm"], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Wrong(f"{' '.join(command)}\n{made.stderr}")
    return program


# The test itself.

def finish(runs):
    """Prints figures where they are asked for or wrong; the exit status."""
    status = 0
    for run in runs:
        if isinstance(run, Wrong):
            print(run)
        elif run.failed() or "-v" in sys.argv:
            print("\n".join(run.figures()))
        if isinstance(run, Wrong) or run.failed():
            status = 1
    return status


def outcome(test):
    """Runs test(scratch) and ends the process with its result."""
    with tempfile.TemporaryDirectory(prefix="gmtrace-gpu-") as scratch:
        try:
            status = test(scratch)
        except Skip as why:
            print(why)
            status = SKIP
        except Wrong as why:
            print(why)
            status = 1
    sys.exit(status)


def run_case(case, file, scratch):
    """The Run, or what was Wrong: a test tells about all of its cases."""
    name = case.work.__name__
    directory = os.path.join(scratch, name)
    os.mkdir(directory)
    try:
        run = Run(name, [sys.executable, file, "--work", name], case.env, directory)
        case.check(run)
        return run
    except Wrong as why:
        return Wrong(f"{name}: {why}")


def main(needs, *cases):
    """A test in Python: needs is the framework's module."""
    file = os.path.abspath(sys.argv[0])
    if "--work" in sys.argv:
        return next(case.work for case in cases if case.work.__name__ == sys.argv[-1])()
    if importlib.util.find_spec(needs) is None:
        outcome(lambda scratch: skip(f"{needs} is not installed"))
    return outcome(lambda scratch: finish([run_case(case, file, scratch) for case in cases]))


def main_c(source, libraries, check):
    """A test in C: {library: header} are what it needs."""
    def test(scratch):
        program = compile_program(source, libraries, scratch)
        directory = os.path.join(scratch, "run")
        os.mkdir(directory)
        run = Run(source, [program], {}, directory)
        check(run, "/" + re.escape(os.path.basename(program)) + "$")
        return finish([run])
    outcome(test)


def own_blocks(allocations, total):
    """The check of a program in C that frees all of its blocks but one."""
    def check(run, program):
        leaks = [leak for leak in run.report["leaks"] if re.search(program, caller(leak))]

        run.equal("the program's own allocations, frees, live and all bytes", run.of(program),
                  Blocks(allocations, allocations - 1, KEPT, total))
        run.equal("its leaks", [(leak["api"], leak["class"], leak["stack"][0]["function"])
                                for leak in leaks], [("cudaMalloc", "one_time", "keep_one")])
        run.true("no frame of the report is a bare unknown",
                 all(frame["function"] or frame["module"]
                     for leak in run.report["leaks"] for frame in leak["stack"]))
    return check


def skip(why):
    raise Skip(why)
