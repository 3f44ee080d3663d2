# bash completion for lecturectl; written by 'lecturectl completion bash'.

# The kinds of an option's value and of the arguments, the options and the commands, by the words so far.
_lecturectl_value() {
    case "$1" in
    "precache --ready-by") echo 'anything' ;;
    "precache --deadline") echo 'anything' ;;
    "precache --key") echo 'anything' ;;
    "precache --title") echo 'anything' ;;
    "precache --sha256") echo 'anything' ;;
    "precache --mirror") echo 'anything' ;;
    "precache --output" | "precache -o") echo 'files' ;;
    "precache --header" | "precache -H") echo 'anything' ;;
    "precache --folder") echo 'anything' ;;
    "precache --priority" | "precache -p") echo 'anything' ;;
    "precache --check") echo 'words list head never' ;;
    "precache --variant") echo 'words best worst' ;;
    "precache --max-height") echo 'anything' ;;
    "precache --max-bandwidth") echo 'anything' ;;
    "precache --audio") echo 'anything' ;;
    "precache --subtitles") echo 'anything' ;;
    "precache --capture") echo 'anything' ;;
    "precache --output-dir" | "precache -d") echo 'directories' ;;
    "precache --name") echo 'anything' ;;
    "precache --report") echo 'files' ;;
    "precache --keep") echo 'anything' ;;
    "precache --max-delete") echo 'anything' ;;
    "precache --list-name") echo 'anything' ;;
    "precache --from") echo 'anything' ;;
    "precache --from-token-file") echo 'files' ;;
    "precache --from-trust") echo 'files' ;;
    "precache --connections" | "precache -c") echo 'words auto' ;;
    "precache --limit-rate") echo 'anything' ;;
    "precache --timetable") echo 'anything' ;;
    "precache --max-attempts") echo 'anything' ;;
    "precache --ca-file") echo 'files' ;;
    "precache --proxy") echo 'anything' ;;
    "precache --timeout") echo 'anything' ;;
    "precache --retries") echo 'anything' ;;
    "precache --per-host") echo 'anything' ;;
    "precache --jobs" | "precache -j") echo 'anything' ;;
    "precache --credentials-file") echo 'files' ;;
    "precache --netrc-file") echo 'files' ;;
    "precache --client-cert") echo 'files' ;;
    "precache --client-key") echo 'files' ;;
    "precache --quota") echo 'anything' ;;
    "precache --reserve") echo 'anything' ;;
    "precache --on-success") echo 'anything' ;;
    "precache --on-failure") echo 'anything' ;;
    "daemon --courses") echo 'files' ;;
    "daemon --renew-within") echo 'anything' ;;
    "daemon --connections" | "daemon -c") echo 'words auto' ;;
    "daemon --limit-rate") echo 'anything' ;;
    "daemon --timetable") echo 'anything' ;;
    "daemon --max-attempts") echo 'anything' ;;
    "daemon --ca-file") echo 'files' ;;
    "daemon --proxy") echo 'anything' ;;
    "daemon --timeout") echo 'anything' ;;
    "daemon --retries") echo 'anything' ;;
    "daemon --per-host") echo 'anything' ;;
    "daemon --jobs" | "daemon -j") echo 'anything' ;;
    "daemon --credentials-file") echo 'files' ;;
    "daemon --netrc-file") echo 'files' ;;
    "daemon --client-cert") echo 'files' ;;
    "daemon --client-key") echo 'files' ;;
    "daemon --quota") echo 'anything' ;;
    "daemon --reserve") echo 'anything' ;;
    "serve --listen") echo 'anything' ;;
    "serve --name") echo 'anything' ;;
    "serve --tls-cert") echo 'files' ;;
    "serve --tls-key") echo 'files' ;;
    "serve --access") echo 'files' ;;
    "serve --connections" | "serve -c") echo 'words auto' ;;
    "serve --limit-rate") echo 'anything' ;;
    "serve --timetable") echo 'anything' ;;
    "serve --max-attempts") echo 'anything' ;;
    "serve --ca-file") echo 'files' ;;
    "serve --proxy") echo 'anything' ;;
    "serve --timeout") echo 'anything' ;;
    "serve --retries") echo 'anything' ;;
    "serve --per-host") echo 'anything' ;;
    "serve --jobs" | "serve -j") echo 'anything' ;;
    "serve --credentials-file") echo 'files' ;;
    "serve --netrc-file") echo 'files' ;;
    "serve --client-cert") echo 'files' ;;
    "serve --client-key") echo 'files' ;;
    "serve --quota") echo 'anything' ;;
    "serve --reserve") echo 'anything' ;;
    "access add --role") echo 'words viewer peer operator' ;;
    "access add --access") echo 'files' ;;
    "access list --access") echo 'files' ;;
    "access remove --access") echo 'files' ;;
    "plan --course") echo 'anything' ;;
    "plan --items") echo 'files' ;;
    "plan --check") echo 'words list head never' ;;
    "plan --ready-by") echo 'anything' ;;
    "plan --speed") echo 'anything' ;;
    "plan --limit-rate") echo 'anything' ;;
    "plan --timetable") echo 'anything' ;;
    "plan --jobs" | "plan -j") echo 'anything' ;;
    "plan --quota") echo 'anything' ;;
    "plan --reserve") echo 'anything' ;;
    "list --sort") echo 'words title downloaded size expiry priority folder' ;;
    "list --limit") echo 'anything' ;;
    "list --offset") echo 'anything' ;;
    "list --state") echo 'words queued loading downloading verifying completed stopped failed removing outdated damaged' ;;
    "list --type") echo 'words streaming downloading sample adaptiveStreaming adaptiveDownload' ;;
    "list --course") echo 'anything' ;;
    "list --folder") echo 'anything' ;;
    "list --recent") echo 'anything' ;;
    "list --older-than") echo 'anything' ;;
    "list --expiring") echo 'anything' ;;
    "metrics --output" | "metrics -o") echo 'files' ;;
    "metrics --label") echo 'anything' ;;
    "metrics --quota") echo 'anything' ;;
    "metrics --reserve") echo 'anything' ;;
    "doctor --ca-file") echo 'files' ;;
    "doctor --proxy") echo 'anything' ;;
    "doctor --timeout") echo 'anything' ;;
    "doctor --retries") echo 'anything' ;;
    "doctor --per-host") echo 'anything' ;;
    "doctor --jobs" | "doctor -j") echo 'anything' ;;
    "doctor --credentials-file") echo 'files' ;;
    "doctor --netrc-file") echo 'files' ;;
    "doctor --client-cert") echo 'files' ;;
    "doctor --client-key") echo 'files' ;;
    "doctor --quota") echo 'anything' ;;
    "doctor --reserve") echo 'anything' ;;
    "cat --range" | "cat -r") echo 'anything' ;;
    "play --start") echo 'anything' ;;
    "play --section") echo 'anything' ;;
    "play --repeat") echo 'anything' ;;
    "play --speed") echo 'anything' ;;
    "play --subtitles") echo 'files' ;;
    "play --subtitle-language") echo 'anything' ;;
    "play --second-subtitle-language") echo 'anything' ;;
    "play --audio-output") echo 'anything' ;;
    "play --video-output") echo 'anything' ;;
    "play --user") echo 'anything' ;;
    "play --with") echo 'anything' ;;
    "play --port") echo 'anything' ;;
    "export --output" | "export -o") echo 'files' ;;
    "export --format") echo 'words mp4 mkv ts' ;;
    "bookmark list --user") echo 'anything' ;;
    "bookmark add --user") echo 'anything' ;;
    "bookmark remove --user") echo 'anything' ;;
    "bookmark sync --user") echo 'anything' ;;
    "bookmark sync --on-success") echo 'anything' ;;
    "bookmark sync --on-failure") echo 'anything' ;;
    "reorder --priority" | "reorder -p") echo 'anything' ;;
    "remove --state") echo 'words queued loading downloading verifying completed stopped failed removing outdated damaged' ;;
    "remove --type") echo 'words streaming downloading sample adaptiveStreaming adaptiveDownload' ;;
    "remove --course") echo 'anything' ;;
    "remove --folder") echo 'anything' ;;
    "remove --recent") echo 'anything' ;;
    "remove --older-than") echo 'anything' ;;
    "remove --expiring") echo 'anything' ;;
    "prune --rule") echo 'anything' ;;
    "prune --max-delete") echo 'anything' ;;
    "verify --sample") echo 'anything' ;;
    "verify --rate") echo 'anything' ;;
    "verify --ca-file") echo 'files' ;;
    "verify --proxy") echo 'anything' ;;
    "verify --timeout") echo 'anything' ;;
    "verify --retries") echo 'anything' ;;
    "verify --per-host") echo 'anything' ;;
    "verify --jobs" | "verify -j") echo 'anything' ;;
    "verify --credentials-file") echo 'files' ;;
    "verify --netrc-file") echo 'files' ;;
    "verify --client-cert") echo 'files' ;;
    "verify --client-key") echo 'files' ;;
    "verify --on-success") echo 'anything' ;;
    "verify --on-failure") echo 'anything' ;;
    "licence list --expiring") echo 'anything' ;;
    "licence list --limit") echo 'anything' ;;
    "licence list --offset") echo 'anything' ;;
    "licence import --trust") echo 'files' ;;
    "licence import --crl") echo 'files' ;;
    "licence import --jwks") echo 'files' ;;
    "licence import --hmac-key-file") echo 'files' ;;
    "licence rekey --trust") echo 'files' ;;
    "licence rekey --crl") echo 'files' ;;
    "licence rekey --jwks") echo 'files' ;;
    "licence rekey --hmac-key-file") echo 'files' ;;
    "licence renew --within") echo 'anything' ;;
    "licence renew --jobs" | "licence renew -j") echo 'anything' ;;
    "licence renew --rate") echo 'anything' ;;
    "licence renew --max-attempts") echo 'anything' ;;
    "licence renew --on-success") echo 'anything' ;;
    "licence renew --on-failure") echo 'anything' ;;
    "licence regrant --jobs" | "licence regrant -j") echo 'anything' ;;
    "licence regrant --rate") echo 'anything' ;;
    "licence regrant --max-attempts") echo 'anything' ;;
    "licence verify --trust") echo 'files' ;;
    "licence verify --crl") echo 'files' ;;
    "licence verify --jwks") echo 'files' ;;
    "licence verify --hmac-key-file") echo 'files' ;;
    "licence verify --at") echo 'anything' ;;
    "licence verify --audience") echo 'anything' ;;
    "licence verify --issuer") echo 'anything' ;;
    "licence verify --user") echo 'anything' ;;
    "licence verify --content") echo 'anything' ;;
    "licence verify --device") echo 'anything' ;;
    "licence verify --trust-dir") echo 'directories' ;;
    "lms add --id") echo 'anything' ;;
    "lms add --user") echo 'anything' ;;
    "lms add --session") echo 'anything' ;;
    "lms add --seq") echo 'anything' ;;
    "lms add --json") echo 'files' ;;
    "lms add --play") echo 'files' ;;
    "lms add --content") echo 'keys' ;;
    "lms add --course") echo 'anything' ;;
    "lms add --note") echo 'anything' ;;
    "lms add --target") echo 'anything' ;;
    "lms add --format") echo 'words kollus json xapi' ;;
    "lms list --state") echo 'words pending leased delivered dead superseded expired' ;;
    "lms list --user") echo 'anything' ;;
    "lms list --course") echo 'anything' ;;
    "lms list --target") echo 'anything' ;;
    "lms list --since") echo 'anything' ;;
    "lms list --until") echo 'anything' ;;
    "lms list --limit") echo 'anything' ;;
    "lms list --offset") echo 'anything' ;;
    "lms send --target") echo 'anything' ;;
    "lms send --format") echo 'words kollus json xapi' ;;
    "lms send --rate") echo 'anything' ;;
    "lms send --max-attempts") echo 'anything' ;;
    "lms send --longest-wait") echo 'anything' ;;
    "lms send --on-success") echo 'anything' ;;
    "lms send --on-failure") echo 'anything' ;;
    "lms retry --reason") echo 'words refused too_large unsupported conflict' ;;
    "lms retry --since") echo 'anything' ;;
    "lms retry --until") echo 'anything' ;;
    "lms export --format") echo 'words csv jsonl xapi' ;;
    "lms export --since") echo 'anything' ;;
    "lms export --until") echo 'anything' ;;
    "lms export --state") echo 'words pending leased delivered dead superseded expired' ;;
    "lms export --course") echo 'anything' ;;
    "lms export --user") echo 'anything' ;;
    "lms export --output" | "lms export -o") echo 'files' ;;
    "lms export --pseudonymise") echo 'files' ;;
    "lms import --format") echo 'words jsonl csv' ;;
    "lms erase --user") echo 'anything' ;;
    "lms erase --forget-copy") echo 'files' ;;
    "webhooks send --endpoint") echo 'anything' ;;
    "webhooks send --max-attempts") echo 'anything' ;;
    "webhooks send --longest-wait") echo 'anything' ;;
    "webhooks send --on-success") echo 'anything' ;;
    "webhooks send --on-failure") echo 'anything' ;;
    "webhooks retry --endpoint") echo 'anything' ;;
    "webhooks test --endpoint") echo 'anything' ;;
    "bundle create --for") echo 'files' ;;
    "bundle create --course") echo 'anything' ;;
    "bundle create --have") echo 'files' ;;
    "bundle create --sign-with") echo 'files' ;;
    "bundle list --trust") echo 'files' ;;
    "bundle verify --trust") echo 'files' ;;
    "bundle import --trust") echo 'files' ;;
    "bundle import --deadline") echo 'anything' ;;
    "bundle import --ca-file") echo 'files' ;;
    "bundle import --proxy") echo 'anything' ;;
    "bundle import --timeout") echo 'anything' ;;
    "bundle import --retries") echo 'anything' ;;
    "bundle import --per-host") echo 'anything' ;;
    "bundle import --jobs" | "bundle import -j") echo 'anything' ;;
    "bundle import --credentials-file") echo 'files' ;;
    "bundle import --netrc-file") echo 'files' ;;
    "bundle import --client-cert") echo 'files' ;;
    "bundle import --client-key") echo 'files' ;;
    "bundle import --quota") echo 'anything' ;;
    "bundle import --reserve") echo 'anything' ;;
    "bundle import --on-success") echo 'anything' ;;
    "bundle import --on-failure") echo 'anything' ;;
    "device export --output" | "device export -o") echo 'files' ;;
    "device export --passphrase-file") echo 'files' ;;
    "device import --passphrase-file") echo 'files' ;;
    "store info --ca-file") echo 'files' ;;
    "store info --proxy") echo 'anything' ;;
    "store info --timeout") echo 'anything' ;;
    "store info --retries") echo 'anything' ;;
    "store info --per-host") echo 'anything' ;;
    "store info --jobs" | "store info -j") echo 'anything' ;;
    "store info --credentials-file") echo 'files' ;;
    "store info --netrc-file") echo 'files' ;;
    "store info --client-cert") echo 'files' ;;
    "store info --client-key") echo 'files' ;;
    "store info --quota") echo 'anything' ;;
    "store info --reserve") echo 'anything' ;;
    "store backup --delete-copy") echo 'files' ;;
    "store backup --on-success") echo 'anything' ;;
    "store backup --on-failure") echo 'anything' ;;
    "config show --ca-file") echo 'files' ;;
    "config show --proxy") echo 'anything' ;;
    "config show --timeout") echo 'anything' ;;
    "config show --retries") echo 'anything' ;;
    "config show --per-host") echo 'anything' ;;
    "config show --jobs" | "config show -j") echo 'anything' ;;
    "config show --credentials-file") echo 'files' ;;
    "config show --netrc-file") echo 'files' ;;
    "config show --client-cert") echo 'files' ;;
    "config show --client-key") echo 'files' ;;
    "config show --quota") echo 'anything' ;;
    "config show --reserve") echo 'anything' ;;
    *" --store") echo 'directories' ;;
    *" --config") echo 'files' ;;
    *" --log-format") echo 'words auto text json journal' ;;
    *" --progress") echo 'words auto bar plain none' ;;
    *" --color") echo 'words auto always never' ;;
    *) echo none ;;
    esac
}

_lecturectl_arguments() {
    case "$1" in
    "precache") echo 'files' ;;
    "access add") echo 'anything' ;;
    "access remove") echo 'anything' ;;
    "plan") echo 'keys' ;;
    "show") echo 'keys' ;;
    "doctor") echo 'anything' ;;
    "why") echo 'keys' ;;
    "path") echo 'keys' ;;
    "cat") echo 'keys' ;;
    "play") echo 'keys' ;;
    "export") echo 'keys' ;;
    "bookmark list") echo 'keys' ;;
    "bookmark add") echo 'keys' ;;
    "bookmark remove") echo 'keys' ;;
    "bookmark sync") echo 'keys' ;;
    "pause") echo 'keys' ;;
    "resume") echo 'keys' ;;
    "cancel") echo 'keys' ;;
    "reorder") echo 'keys' ;;
    "remove") echo 'keys' ;;
    "pin") echo 'keys' ;;
    "unpin") echo 'keys' ;;
    "verify") echo 'keys' ;;
    "licence show") echo 'keys' ;;
    "licence import") echo 'files' ;;
    "licence rekey") echo 'files' ;;
    "licence renew") echo 'keys' ;;
    "licence regrant") echo 'keys' ;;
    "licence verify") echo 'files' ;;
    "lms retry") echo 'anything' ;;
    "lms import") echo 'files' ;;
    "bundle create") echo 'files' ;;
    "bundle list") echo 'files' ;;
    "bundle verify") echo 'files' ;;
    "bundle import") echo 'files' ;;
    "device import") echo 'files' ;;
    "store backup") echo 'files' ;;
    "store rebuild") echo 'files' ;;
    "config check") echo 'files' ;;
    "completion") echo 'words bash zsh fish' ;;
    "help") echo 'words precache daemon serve access plan list show status metrics doctor why path cat play export bookmark pause resume cancel reorder remove pin unpin prune verify licence lms webhooks bundle device store config completion help version' ;;
    *) echo none ;;
    esac
}

_lecturectl_options() {
    case "$1" in
    "precache") echo '--ready-by --deadline --after-input --dry-run -n --key --title --sha256 --mirror --output -o --header -H --folder --priority -p --check --accept-any --trust-length --seal --no-seal --variant --max-height --max-bandwidth --audio --subtitles --capture --allow-gaps --output-dir -d --name --report --force --acks --prune --keep --max-delete --list-name --from --from-token-file --from-trust --connections -c --limit-rate --timetable --max-attempts --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve --on-success --on-failure' ;;
    "daemon") echo '--courses --renew-within --connections -c --limit-rate --timetable --max-attempts --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve' ;;
    "serve") echo '--listen --name --tls-cert --tls-key --behind-proxy --access --connections -c --limit-rate --timetable --max-attempts --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve' ;;
    "access add") echo '--role --access' ;;
    "access list") echo '--access' ;;
    "access remove") echo '--access' ;;
    "plan") echo '--course --items --check --ready-by --speed --limit-rate --timetable --jobs -j --quota --reserve' ;;
    "list") echo '--sort --limit --offset --state --type --course --folder --recent --older-than --expiring' ;;
    "status") echo '--watch -w' ;;
    "metrics") echo '--output -o --label --quota --reserve' ;;
    "doctor") echo '--offline --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve' ;;
    "cat") echo '--range -r' ;;
    "play") echo '--stream --start --section --repeat --speed --no-video --subtitles --subtitle-language --second-subtitle-language --fullscreen --audio-output --video-output --user --with --url --port' ;;
    "export") echo '--output -o --format --force' ;;
    "bookmark list") echo '--user' ;;
    "bookmark add") echo '--user' ;;
    "bookmark remove") echo '--user' ;;
    "bookmark sync") echo '--user --on-success --on-failure' ;;
    "pause") echo '--all -a' ;;
    "resume") echo '--all -a' ;;
    "cancel") echo '--all -a' ;;
    "reorder") echo '--all -a --first --last --priority -p' ;;
    "remove") echo '--all -a --samples --dry-run -n --state --type --course --folder --recent --older-than --expiring' ;;
    "unpin") echo '--all -a' ;;
    "prune") echo '--dry-run -n --yes -y --rule --max-delete' ;;
    "verify") echo '--all -a --repair --sample --rate --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --on-success --on-failure' ;;
    "licence list") echo '--expiring --limit --offset' ;;
    "licence import") echo '--trust --crl --jwks --hmac-key-file' ;;
    "licence rekey") echo '--trust --crl --jwks --hmac-key-file' ;;
    "licence renew") echo '--expired --within --all -a --jobs -j --rate --max-attempts --dry-run -n --acks --on-success --on-failure' ;;
    "licence regrant") echo '--all -a --new-device --jobs -j --rate --max-attempts --dry-run -n --acks' ;;
    "licence pending") echo '--pay' ;;
    "licence verify") echo '--trust --crl --jwks --hmac-key-file --at --audience --issuer --user --content --device --batch --trust-dir' ;;
    "lms add") echo '--id --user --session --seq --json --play --content --course --note --target --format --batch --acks' ;;
    "lms list") echo '--state --user --course --target --since --until --limit --offset --ids --summary' ;;
    "lms send") echo '--target --format --rate --max-attempts --longest-wait --acks --on-success --on-failure' ;;
    "lms retry") echo '--all -a --reason --since --until' ;;
    "lms export") echo '--format --since --until --state --course --user --output -o --pseudonymise --force -f' ;;
    "lms import") echo '--format' ;;
    "lms erase") echo '--user --force -f --dry-run -n --forget-copy' ;;
    "webhooks list") echo '--waiting --dead' ;;
    "webhooks send") echo '--endpoint --max-attempts --longest-wait --on-success --on-failure' ;;
    "webhooks retry") echo '--endpoint' ;;
    "webhooks test") echo '--endpoint' ;;
    "bundle create") echo '--for --course --have --sign-with --force -f --dry-run -n' ;;
    "bundle list") echo '--trust' ;;
    "bundle verify") echo '--trust' ;;
    "bundle import") echo '--trust --acks --deadline --dry-run -n --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve --on-success --on-failure' ;;
    "device export") echo '--output -o --passphrase-file' ;;
    "device import") echo '--passphrase-file --replace' ;;
    "store info") echo '--ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve' ;;
    "store backup") echo '--delete-copy --on-success --on-failure' ;;
    "store rebuild") echo '--delete-unusable' ;;
    "config show") echo '--origin --ca-file --proxy --timeout --retries --per-host --jobs -j --credentials-file --netrc --netrc-file --client-cert --client-key --quota --reserve' ;;
    esac
    echo '--store --config --json --quiet -q --verbose -v --log-format --progress --color --help -h --version -V'
}

_lecturectl_commands() {
    case "$1" in
    "") echo 'precache daemon serve access plan list show status metrics doctor why path cat play export bookmark pause resume cancel reorder remove pin unpin prune verify licence lms webhooks bundle device store config completion help version' ;;
    "access") echo 'add list remove' ;;
    "bookmark") echo 'list add remove sync' ;;
    "licence") echo 'list show import rekey renew regrant pending verify' ;;
    "lms") echo 'add list send retry export import erase' ;;
    "webhooks") echo 'list send retry test' ;;
    "bundle") echo 'create list verify import' ;;
    "device") echo 'show export import' ;;
    "store") echo 'info check backup migrate rebuild' ;;
    "config") echo 'show check' ;;
    esac
}

_lecturectl() {
    local current="${COMP_WORDS[COMP_CWORD]}" path="" wanted="" word kind i=1
    local -a store=()
    COMPREPLY=()
    # bash cuts words at '=': "--sort=si" arrives as three.
    [[ $current == "=" ]] && current=""
    while (( i < COMP_CWORD )); do
        word="${COMP_WORDS[i]}"
        if [[ $word == "=" ]]; then
            :
        elif [[ -n $wanted ]]; then
            [[ $wanted == --store ]] && store=(--store "$word")
            wanted=""
        elif [[ $word == -* ]]; then
            kind=$(_lecturectl_value "$path $word")
            [[ $kind == none ]] || wanted="$word"
        elif [[ " $(_lecturectl_commands "$path") " == *" $word "* ]]; then
            path="${path:+$path }$word"
        fi
        i=$((i + 1))
    done
    if [[ -n $wanted ]]; then
        kind=$(_lecturectl_value "$path $wanted")
    elif [[ $current == -* ]]; then
        kind="words $(_lecturectl_options "$path")"
    elif [[ -n $(_lecturectl_commands "$path") ]]; then
        kind="words $(_lecturectl_commands "$path")"
    else
        kind=$(_lecturectl_arguments "$path")
    fi
    case "$kind" in
    "words "*) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$current") ;;
    files) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    directories) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    keys) _lecturectl_keys "$current" ;;
    esac
}

# A key is offered unchanged: it may contain blanks and characters that bash would expand. bash also cuts at
# ':', so the text before the last one is not repeated.
_lecturectl_keys() {
    local prefix="" key i=$COMP_CWORD
    while (( i > 1 )) && [[ ${COMP_WORDS[i]} == ":" || ${COMP_WORDS[i-1]} == ":" ]]; do
        i=$((i - 1))
        prefix="${COMP_WORDS[i]}$prefix"
    done
    [[ $1 == ":" ]] && set -- ""
    [[ ${COMP_WORDS[COMP_CWORD]} == ":" ]] && prefix="$prefix:"
    while IFS= read -r key; do
        if [[ $key == "$prefix$1"* ]]; then
            key="${key#"$prefix"}"
            COMPREPLY+=("$(printf '%q' "$key")")
        fi
    done < <(lecturectl list --json "${store[@]}" 2> /dev/null | sed -n 's/.*"key":"\([^"\\]*\)".*/\1/p')
}

complete -F _lecturectl lecturectl
