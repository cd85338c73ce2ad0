"""Takes out of a text report what differs from run to run or from machine to machine.

What stays is what a case is about: bytes, blocks, functions, files and lines of the programs,
devices, verdicts. Everything else becomes a fixed word, so that its presence is still checked.
"""
import re

# Times and rates of the run itself, and figures that belong to the machine and not to the program.
SIZE = r"-?[0-9][0-9.,]* (?:[KMGT]iB|bytes?)"
RULES = [
    # Addresses, offsets in files that a compiler laid out, build-ids, UUIDs. A site stays: it is
    # made of names, and must be the same in every build.
    (r"\b(?:GPU-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"(?<!site )0x[0-9a-f]+", "0xN"),
    (r"\b[0-9a-f]{16,64}\b", "HEX"),
    # Durations: 1.25 s, 300 µs, 17 ms.
    (r"\b[0-9][0-9,.]* ?(?:ns|µs|us|ms|s)\b", "TIME"),
    (r"\bpid [0-9]+\b", "pid PID"),
    (r"\bJSON\.[0-9]+", "JSON.PID"),
    # The device's own: its name, its memory, and what the driver says is in use.
    (r"\bdevice ([0-9]+) \([^)]*\)", r"device \1 (NAME)"),
    (SIZE + r" in use by the driver's account at TIME, of " + SIZE, "SIZE in use, of SIZE"),
    (r"((?:unaccounted|idle in pools) +)" + SIZE, r"\1SIZE"),
    (r"(memory pool of device [0-9]+): .*", r"\1: SIZES"),
    # How many entries a runtime looks up is its own affair.
    (r"\b[0-9]+ (other names? passed through)", r"N \1"),
    # clang and gcc name the same file so and so.
    (r" \./", " "),
    # Lines of files that are not ours.
    (r"(/usr/[^\s:]+):[0-9]+(?::[0-9]+)?", r"\1:LINE"),
]
RULES = [(re.compile(pattern), to) for pattern, to in RULES]


def plain(text, places):
    """places: (directory, name) pairs, the longest first."""
    for directory, name in places:
        text = text.replace(directory, name)
    for pattern, to in RULES:
        text = pattern.sub(to, text)
    return text
