#!/usr/bin/env python3
"""Runs the tests: tests/README.md says which kinds there are. `make test` and `make check-gpu`.

The last line is `N passed, N failed, N skipped`; the exit status is 1 if any failed.
"""
import argparse
import concurrent.futures
import difflib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from filter import plain

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(TOP, "tests/programs")
SCHEMA = os.path.join(TOP, "report/report.schema.json")
JOBS = 2
LIMIT_S = 60
GPU_LIMIT_S = 240  # tests/gpu: importing a framework takes seconds
UNIT_LIMIT_S = 600  # one program holds many tests; each has a limit of its own
SKIP = 77

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Failed(Exception):
    """Why a test failed, as its reader shall see it."""


class Skipped(Exception):
    """Why a test says nothing."""


def read(path, otherwise=None):
    if otherwise is not None and not os.path.exists(path):
        return otherwise
    with open(path, encoding="utf-8") as file:
        return file.read()


def last_lines(text, count=20):
    return "\n".join(text.splitlines()[-count:])


def run(command, env, cwd, limit=LIMIT_S):
    """(status, stdout, stderr); a signal is a negative status. Ends the whole group at the limit."""
    process = subprocess.Popen(command, env=env, cwd=cwd,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failed(f"still running after {limit} s\n" + last_lines(err.decode(errors="replace")))
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


class Setting:
    """Where and how the tests run."""

    def __init__(self, arguments):
        self.gpu = arguments.gpu
        self.update = arguments.update
        self.build = os.path.abspath(arguments.build)
        self.san = set(filter(None, (arguments.san or "").split(",")))
        self.tracer = os.path.join(self.build, "libgmtrace.so")
        self.schema = None
        self.places = sorted({(self.build, "BUILD"), (os.path.realpath(self.build), "BUILD"),
                              (TOP + "/", ""), (os.path.realpath(TOP) + "/", "")},
                             key=lambda place: -len(place[0]))

    def load_schema(self):
        if not os.path.exists(SCHEMA):
            sys.exit(f"tests/run.py: there is no {SCHEMA}")
        if jsonschema:
            self.schema = jsonschema.Draft7Validator(json.loads(read(SCHEMA)))
        elif not self.gpu:
            sys.exit("tests/run.py: python3-jsonschema is missing (scripts/deps.sh installs it)")

    def runtime_of_sanitizer(self):
        """The library that has to come first when the traced program is not built with it."""
        for name in ("address", "thread"):
            if name in self.san:
                compiler = os.environ.get("CC", "cc").split()
                return subprocess.check_output(
                    [*compiler, f"-print-file-name=lib{name[0]}san.so"], text=True).strip()
        return ""

    def environment(self, scratch):
        """Of a test, without the preload: nothing of the caller's may change a report."""
        if self.gpu:
            env = {key: value for key, value in os.environ.items()
                   if not key.startswith(("GMT", "LD_PRELOAD", "NO_COLOR"))}
        else:
            env = {key: os.environ[key] for key in ("PATH", "HOME", "USER") if key in os.environ}
            env["LD_LIBRARY_PATH"] = os.path.join(self.build, "sim")
        env.update(LC_ALL="C.UTF-8", TMPDIR=scratch)
        if self.san:
            env["LD_PRELOAD"] = self.runtime_of_sanitizer()
            # The programs leak host memory as well; the tracer's frames are not instrumented.
            env["ASAN_OPTIONS"] = "detect_leaks=0"
        return env

    def traced(self, env):
        env = dict(env)
        env["LD_PRELOAD"] = " ".join(filter(None, [env.get("LD_PRELOAD", ""), self.tracer]))
        return env


def contained(expected, actual, where="report"):
    """The first place where actual does not hold what is expected, or None. Lists are whole."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key not in actual:
                return f"{where}.{key}: missing"
            found = contained(value, actual[key], f"{where}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{where}: {len(actual)} elements, expected {len(expected)}"
        for index, value in enumerate(expected):
            found = contained(value, actual[index], f"{where}[{index}]")
            if found:
                return found
        return None
    return None if expected == actual else f"{where}: {actual!r}, expected {expected!r}"


class ProgramTest:
    """A program of tests/programs with one set of expectations, NAME.* or NAME.TAG.*."""

    def __init__(self, setting, name, tag, variant):
        self.setting, self.program, self.tag, self.variant = setting, name, tag, variant
        self.case = f"{name}.{tag}" if tag else name
        self.name = f"{self.case} ({variant})"
        self.source = next(path for path in (os.path.join(SOURCES, name + end)
                                             for end in (".c", ".cpp", ".cu"))
                           if os.path.exists(path))
        self.comments = read(self.source)
        self.binary = os.path.join(setting.build, "tests", variant, name)

    def beside(self, kind):
        return os.path.join(SOURCES, f"{self.case}.{kind}")

    def expectation(self, kind, otherwise=""):
        """What a tag does not say, it has from its program."""
        return read(self.beside(kind),
                    read(os.path.join(SOURCES, f"{self.program}.{kind}"), otherwise))

    def run_in(self, scratch):
        if not os.path.exists(self.binary):
            if self.source.endswith(".cu") or self.variant == "static":
                raise Skipped("not built: needs nvcc or NVIDIA's static runtime")
            raise Failed("not built")
        env = self.setting.environment(scratch)
        command = [self.binary] + self.expectation("args").split()
        for line in self.expectation("env").splitlines():
            key, _, value = line.partition("=")
            env[key] = value
        # libunwind ends its thread-locals, with a lock, when the sanitizer has left the thread.
        if "thread" in self.setting.san and not (
                "/* threads */" in self.comments
                and "stacks=0" in env.get("GMTRACE_OPTIONS", "")):
            raise Skipped("has no threads, or stacks")
        if "/* start: PATH */" in self.comments:
            env["PATH"] = os.path.dirname(self.binary) + ":" + env["PATH"]
            command[0] = self.program

        plain_status, plain_out, plain_err = run(command, env, scratch)
        if plain_status == SKIP:
            raise Skipped("the program says so")
        if plain_status in (98, 99):
            raise Failed(f"without the tracer, the program failed:\n{last_lines(plain_err)}")

        report = os.path.join(scratch, "report.json")
        options = env.get("GMTRACE_OPTIONS", "")
        env["GMTRACE_OPTIONS"] = f"{options}:json={report}".lstrip(":")
        env = self.setting.traced(env)
        status, out, err = run(command, env, scratch)
        err = plain(err.replace(report, "JSON"), [(scratch, "SCRATCH")] + self.setting.places)
        if "/* strip */" in self.comments:
            err = re.sub(r"\bsite 0x[0-9a-f]+", "site OF THIS BUILD", err)
        self.compare(status, out, err, plain_status, plain_out)
        self.check_json(report, err)

    def compare(self, status, out, err, plain_status, plain_out):
        wrong = []
        expected_status = int(self.expectation("status", "0"))

        if self.setting.update:
            self.write("expect", err)
            if plain_out:
                self.write("stdout", plain_out)
        # The program's own failure wins over a gate.
        if status != (plain_status or expected_status) or plain_status not in (0, expected_status):
            wrong.append(f"status {status}, expected {expected_status}"
                         f" (without the tracer: {plain_status})")
        if out != plain_out:
            wrong.append("stdout is not that of a run without the tracer:\n"
                         + difference(plain_out, out))
        if out != self.expectation("stdout"):
            wrong.append("stdout:\n" + difference(self.expectation("stdout"), out))
        if not os.path.exists(self.beside("expect")):
            wrong.append(f"there is no {self.case}.expect; stderr was:\n{err}")
        elif err != read(self.beside("expect")):
            wrong.append("stderr:\n" + difference(read(self.beside("expect")), err))
        if wrong:
            raise Failed("\n".join(wrong))

    def write(self, kind, text):
        with open(self.beside(kind), "w", encoding="utf-8") as file:
            file.write(text)

    def check_json(self, path, err):
        expected = self.expectation("json-expect")
        if not os.path.exists(path):
            if err or expected:
                raise Failed("no JSON report was written")
            return
        if not err and not expected:
            raise Failed("a JSON report was written for a run that prints nothing")
        report = check_schema(self.setting, path)
        if expected:
            found = contained(json.loads(expected), report)
            if found:
                raise Failed(f"JSON {found}")


def check_schema(setting, path):
    try:
        report = json.loads(read(path))
    except ValueError as error:
        raise Failed(f"the JSON report is none: {error}")
    if setting.schema:
        for error in setting.schema.iter_errors(report):
            where = "/".join(str(part) for part in error.absolute_path)
            raise Failed(f"JSON against its schema, at {where}: {error.message}")
    return report


def difference(expected, actual):
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual",
                                 lineterm="")
    return "\n".join(lines)


class ScriptTest:
    """An executable script; prints nothing on success."""

    def __init__(self, setting, path, variant, limit=LIMIT_S):
        self.setting, self.path, self.variant, self.limit = setting, path, variant, limit
        self.name = f"{os.path.basename(path)} ({variant})"

    def run_in(self, scratch):
        if self.setting.san:
            raise Skipped("sanitizers run programs and unit tests")
        env = self.setting.environment(scratch)
        env.update(TOP=TOP, BUILD=self.setting.build, TRACER=self.setting.tracer,
                   PROGRAMS=os.path.join(self.setting.build, "tests", self.variant),
                   CHECK_JSON=f"{sys.executable} {os.path.abspath(__file__)} "
                              f"{' --gpu' if self.setting.gpu else ''} --check-json")
        env["GPU" if self.setting.gpu else "SIM"] = "1"
        status, out, err = run([self.path], env, scratch, self.limit)
        if status == SKIP:
            raise Skipped((out + err).strip() or "the script says so")
        if status != 0 or out or err:
            raise Failed(f"status {status}\n{out}{err}".rstrip())


class SelfTest:
    """A test of the simulated CUDA, run at the top: its exit status says it all."""

    def __init__(self, setting, path):
        self.setting, self.path, self.name = setting, path, "sim/" + os.path.basename(path)

    def run_in(self, scratch):
        env = self.setting.environment(scratch)
        status, out, err = run([self.path], env, TOP)
        if status == SKIP:
            raise Skipped("it says so")
        if status:
            raise Failed(f"status {status}\n{last_lines(out + err)}")


class UnitTests:
    """A program with many tests; each is a line "ok NAME", "FAIL NAME: why" or "skip NAME"."""

    LINE = re.compile(r"(ok|FAIL|skip) ([A-Za-z0-9_]+)(?:: (.*))?$")

    def __init__(self, setting, path, patterns):
        self.setting, self.path = setting, path
        self.name = "unit/" + os.path.basename(path)
        whole = not patterns or any(pattern in self.name for pattern in patterns)
        self.patterns = [None] if whole else patterns

    def results(self, scratch):
        found = {}
        env = self.setting.environment(scratch)
        env.pop("LD_PRELOAD", None)  # they are linked with the sanitizer
        for pattern in self.patterns:
            try:
                status, out, err = run([self.path] + ([pattern] if pattern else []), env, scratch,
                                       UNIT_LIMIT_S)
            except Failed as failure:
                return [("FAIL", self.name, str(failure))]
            lines = list(filter(None, map(self.LINE.match, out.splitlines())))
            for line in lines:
                found[line[2]] = (line[1], f"{self.name}/{line[2]}", line[3] or "")
            if status and not any(line[1] == "FAIL" for line in lines):
                return [("FAIL", self.name, f"status {status}\n{last_lines(out + err)}")]
            if err and any(line[1] == "FAIL" for line in lines):
                found[""] = ("FAIL", self.name + " (stderr)", last_lines(err, 40))
        return list(found.values())


def outcome(test):
    """[(ok|FAIL|skip, name, why)] of a test, in a scratch directory of its own."""
    with tempfile.TemporaryDirectory(prefix="gmtrace-test-") as scratch:
        scratch = os.path.realpath(scratch)
        if isinstance(test, UnitTests):
            return test.results(scratch)
        try:
            test.run_in(scratch)
        except Skipped as why:
            return [("skip", test.name, str(why))]
        except Failed as why:
            return [("FAIL", test.name, str(why))]
    return [("ok", test.name, "")]


def program_tests(setting):
    for source in sorted(glob.glob(SOURCES + "/*.c") + glob.glob(SOURCES + "/*.cpp")
                         + glob.glob(SOURCES + "/*.cu")):
        name = os.path.basename(source).rsplit(".", 1)[0]
        if name.endswith(".plugin"):
            continue
        tags = sorted({os.path.basename(path).split(".")[1]
                       for kind in ("env", "expect") for path in glob.glob(f"{SOURCES}/{name}.*.{kind}")})
        runtime = not re.search(r"/\* links: (none|cuda) \*/", read(source))
        for variant in ["shared"] + (["static"] if setting.gpu and runtime else []):
            for tag in [""] + tags:
                yield ProgramTest(setting, name, tag, variant)


def script_tests(setting):
    for path in sorted(glob.glob(SOURCES + "/*.sh")):
        yield ScriptTest(setting, path, "static" if setting.gpu else "shared")
    if setting.gpu:
        for path in sorted(glob.glob(TOP + "/tests/gpu/*.sh") + glob.glob(TOP + "/tests/gpu/*.py")):
            if os.access(path, os.X_OK):
                yield ScriptTest(setting, path, "static", GPU_LIMIT_S)


def all_tests(setting, patterns):
    if not setting.gpu and not setting.update:
        for path in sorted(glob.glob(setting.build + "/tests/unit/test_*")):
            if os.access(path, os.X_OK) and not path.endswith((".o", ".d")):
                yield UnitTests(setting, path, patterns)
        for path in sorted(glob.glob(setting.build + "/tests/selftest_*")):
            if os.access(path, os.X_OK):
                yield SelfTest(setting, path)
    yield from program_tests(setting)
    if not setting.update:
        yield from script_tests(setting)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="parts of the names of the tests to run")
    parser.add_argument("--build", default="build")
    parser.add_argument("--gpu", action="store_true", help="on the GPU instead of the simulator")
    parser.add_argument("--san", help="what the build is instrumented with")
    parser.add_argument("--unit", action="store_true", help="unit tests and self-tests alone")
    parser.add_argument("--update", action="store_true", help="write .expect and .stdout anew")
    parser.add_argument("--check-json", metavar="FILE", help="a report against its schema, no more")
    arguments = parser.parse_args()
    setting = Setting(arguments)
    setting.load_schema()
    if arguments.check_json:
        try:
            check_schema(setting, arguments.check_json)
        except Failed as why:
            sys.exit(str(why))
        return
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    tests = [test for test in all_tests(setting, arguments.patterns)
             if isinstance(test, UnitTests) or not arguments.patterns
             or any(pattern in test.name for pattern in arguments.patterns)]
    if arguments.unit:
        tests = [test for test in tests if isinstance(test, (UnitTests, SelfTest))]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for results in pool.map(outcome, tests):
            for result, name, why in results:
                counts[result] += 1
                print(f"{result} {name}{': ' + why.splitlines()[0] if why else ''}")
                for line in why.splitlines()[1:]:
                    print(f"\t{line}")
            sys.stdout.flush()
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    sys.exit(1 if counts["FAIL"] else 0)


if __name__ == "__main__":
    main()
