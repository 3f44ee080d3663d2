# Sourced by the scripts beside it: the repository's directory, and output functions.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/Tools
# A release has the Swift libraries in itself: a process then starts in two thirds of the time. The same words for every
# release build, since other ones would compile everything again.
release=(-c release --static-swift-stdlib)

# say TEXT: a heading on standard error, so that standard output has only a script's result.
say() { printf '\n== %s\n' "$*" >&2; }

# fail TEXT: prints the reason and exits.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
