# Sourced by the scripts beside it: the repository's directory, and output functions.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/Tools

# say TEXT: a heading on standard error, so that standard output has only a script's result.
say() { printf '\n== %s\n' "$*" >&2; }

# fail TEXT: prints the reason and exits.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
