#!/bin/bash
# Installs what building and testing need (Debian, Ubuntu), as far as it is missing. With all of it
# there it does nothing, and needs no network. deps.sh ci: what CI alone tests with as well.
set -eu
cuda=${CUDA_HOME:-/usr/local/cuda}

# package, and what shows that it is there: a command, a header, or a Python module.
wanted='
gcc              command gcc
g++              command g++
make             command make
binutils         command readelf
git              command git
libunwind-dev    header libunwind.h
liblzma5         library liblzma.so.5
uthash-dev       header uthash.h
libdw-dev        header elfutils/libdwfl.h
libelf-dev       header libelf.h
libjansson-dev   header jansson.h
zlib1g-dev       header zlib.h
liblzma-dev      header lzma.h
libbz2-dev       header bzlib.h
python3          command python3
python3-jsonschema python jsonschema
clang            command clang
clang-format     command clang-format
shellcheck       command shellcheck
valgrind         command valgrind
'

[ "${1-}" != ci ] || wanted="$wanted
gcc-aarch64-linux-gnu command aarch64-linux-gnu-gcc
qemu-user        command qemu-aarch64
"

there()
{
	case $1 in
	command) command -v "$2" >/dev/null ;;
	header) echo "#include <$2>" | "${CC:-cc}" -E -x c - >/dev/null 2>&1 ;;
	library) [ "$("${CC:-cc}" -print-file-name="$2" 2>/dev/null)" != "$2" ] ;;
	python) /usr/bin/python3 -c "import $2" 2>/dev/null ;;
	esac
}

missing=
while read -r package kind what; do
	[ -n "$package" ] || continue
	there "$kind" "$what" || missing="$missing $package"
done <<<"$wanted"

if [ -n "$missing" ]; then
	echo "deps: missing:$missing"
	if ! command -v apt-get >/dev/null; then
		echo "deps: no apt-get here; install what these Debian packages hold, then run again" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086
	$sudo apt-get install -y --no-install-recommends $missing ||
		{ $sudo apt-get update && $sudo apt-get install -y --no-install-recommends $missing; }
fi

# NVIDIA's part is not in Debian; nothing of it is installed here.
if [ ! -e "$cuda/include/cuda.h" ] || [ ! -e "$cuda/include/cuda_runtime_api.h" ]; then
	cat >&2 <<-EOF
	deps: CUDA's headers are expected in $cuda/include (cuda.h, cuda_runtime_api.h).
	deps: Install the CUDA toolkit, or its packages cuda-cudart-dev and cuda-crt, and set
	deps: CUDA_HOME if it lies elsewhere: make CUDA_HOME=/path/to/cuda
	EOF
	exit 1
fi
say()
{
	echo "deps: $*"
}
[ -n "$(ls "$cuda"/lib64/libcudart.so* "$cuda"/lib/libcudart.so* 2>/dev/null)" ] ||
	say "no libcudart.so in $cuda/lib64: programs are linked with the simulated one"
[ -n "$(ls "$cuda"/lib64/libcudart_static.a "$cuda"/lib/libcudart_static.a 2>/dev/null)" ] ||
	say "no libcudart_static.a in $cuda/lib64: skipped: programs with the static runtime"
[ -x "$cuda/bin/nvcc" ] || command -v nvcc >/dev/null ||
	say "no nvcc in $cuda/bin: skipped: programs that have kernels"
[ -e "$cuda/include/cupti.h" ] || [ -e "$cuda/extras/CUPTI/include/cupti.h" ] ||
	say "no cupti.h under $cuda: skipped: kernels=cupti (set CUPTI_INCLUDE if it lies elsewhere)"
exit 0
