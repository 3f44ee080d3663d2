# Read by the scripts beside it: where the repository is, and how they speak.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/Tools

# say TEXT: a heading on standard error, so that standard output stays what a script is run for.
say() { printf '\n== %s\n' "$*" >&2; }

# fail TEXT: the reason, then the end.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
