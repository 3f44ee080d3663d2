# Sourced by the scripts beside it: the repository's directory, and output functions.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/Tools
# A release has the Swift libraries in itself: a process then starts in two thirds of the time. The same words for every
# release build, since other ones would compile everything again.
release=(-c release --static-swift-stdlib)

# Swift Testing takes a backtrace of every error that is thrown, most of which are caught, and shows none of them here. A
# text made of bytes that are no UTF-8 throws one for each.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# say TEXT: a heading on standard error, so that standard output has only a script's result.
say() { printf '\n== %s\n' "$*" >&2; }

# fail TEXT: prints the reason and exits.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
