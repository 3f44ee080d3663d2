#compdef lecturectl
# zsh completion for lecturectl; written by 'lecturectl completion zsh'.

_lecturectl_keys() {
    local -a keys store
    (( $+opt_args[--store] )) && store=(--store ${(Q)opt_args[--store]})
    keys=(${(f)"$(lecturectl list --json $store 2> /dev/null | sed -n 's/.*"key":"\([^"\\]*\)".*/\1/p')"})
    compadd -a keys
}

_lecturectl() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'precache:downloads lectures into the store'
            'list:lists lectures'
            'show:shows everything about one lecture'
            'status:shows the whole store at a glance'
            'why:explains the state of a lecture'
            'path:prints the path of an unsealed file'
            'cat:writes media bytes to standard output'
            'pause:stops lectures until they are resumed'
            'resume:resumes paused and cancelled lectures'
            'cancel:stops lectures until they are requested again'
            'reorder:changes which lecture is downloaded first'
            'remove:deletes lectures and their files'
            'verify:reads lectures again and locates damage'
            'licence:manages licences'
            'lms:manages the learning reports for the LMS'
            'device:manages the key of this device'
            'store:maintains the database'
            'completion:prints completions for a shell'
            'help:explains a command'
            'version:shows the version'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            precache) _lecturectl_precache ;;
            list) _lecturectl_list ;;
            show) _lecturectl_show ;;
            status) _lecturectl_status ;;
            why) _lecturectl_why ;;
            path) _lecturectl_path ;;
            cat) _lecturectl_cat ;;
            pause) _lecturectl_pause ;;
            resume) _lecturectl_resume ;;
            cancel) _lecturectl_cancel ;;
            reorder) _lecturectl_reorder ;;
            remove) _lecturectl_remove ;;
            verify) _lecturectl_verify ;;
            licence) _lecturectl_licence ;;
            lms) _lecturectl_lms ;;
            device) _lecturectl_device ;;
            store) _lecturectl_store ;;
            completion) _lecturectl_completion ;;
            help) _lecturectl_help ;;
            version) _lecturectl_version ;;
        esac
        ;;
    esac
}

_lecturectl_precache() {
    _arguments -s -S \
        '--deadline=[End after this time with exit status 75. Downloaded data is kept.]:DURATION: ' \
        '--after-input[Wait until standard input ends, then continue with what waits in the store. If any input arrives before that, the command exits without downloading.]' \
        '-n[Print what is new, changed, complete and gone, how many bytes that is and whether they fit. Nothing is downloaded or stored. With --check head the servers are asked.]' \
        '--dry-run[Print what is new, changed, complete and gone, how many bytes that is and whether they fit. Nothing is downloaded or stored. With --check head the servers are asked.]' \
        '--key=[The key of the lecture.]:KEY: ' \
        '--title=[The title of the lecture.]:TEXT: ' \
        '--sha256=[The digest that the file must have.]:HEX: ' \
        '*--mirror=[Another URL of the same file. Repeatable.]:URL: ' \
        '-o+[Put the finished file there as well.]:FILE:_files' \
        '--output=[Put the finished file there as well.]:FILE:_files' \
        '*-H+[A request header for all sources. Other users can see it in the list of processes; @FILE reads headers from a file, one a line. Repeatable.]:'\''NAME\: VALUE'\'': ' \
        '*--header=[A request header for all sources. Other users can see it in the list of processes; @FILE reads headers from a file, one a line. Repeatable.]:'\''NAME\: VALUE'\'': ' \
        '--folder=[The folder that the lectures are listed under.]:NAME: ' \
        '-p+[Higher goes first; -100 to 100.]:N: ' \
        '--priority=[Higher goes first; -100 to 100.]:N: ' \
        '--check=[How lectures that are complete are compared with what is requested: '\''list'\'' compares digest, size and URL; '\''head'\'' also asks the server whether the file has changed; '\''never'\'' skips them.]:HOW:(list head never)' \
        '--accept-any[Accept files that do not begin like any known media format. Text, pages and empty files as well.]' \
        '--trust-length[Resume a download although the server names no version of the file. If the file has changed, the result may be half old, half new.]' \
        '--seal[Seal every file, whether it needs a licence or not.]' \
        '--no-seal[Keep the files unsealed, so that they can be read in place. Licensed media is refused.]' \
        '-d+[Put every finished file into this directory as well.]:DIR:_files -/' \
        '--output-dir=[Put every finished file into this directory as well.]:DIR:_files -/' \
        '--name=[The file names below --output-dir, for example '\''{course}/{number:02} {title}.{ext}'\''. Fields: course, folder, teacher, title, number (the place in its list), key, name (of the URL), ext. What cannot stand in a file name becomes '\''_'\''.]:TEMPLATE: ' \
        '--report=[Write the lectures that failed or stopped into this course list, each with the reason.]:FILE:_files' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a lecture is durably complete.]' \
        '--prune[Remove lectures that have left the list and stand in no other one. Only after a run that read the whole list without a refused line. Samples stay.]' \
        '--keep=[Remove only what left the list this long ago.]:DURATION: ' \
        '--max-delete=[Remove nothing if more than this number, or share (10%), of the list'\''s lectures would go.]:LIMIT: ' \
        '--list-name=[The name under which the list is remembered; needed for --prune with standard input.]:NAME: ' \
        '-c+[Parallel ranges of one file.]:N:(auto)' \
        '--connections=[Parallel ranges of one file.]:N:(auto)' \
        '--limit-rate=[Bytes a second at most, over all lectures; for example 2M.]:RATE: ' \
        '--timetable=[Rates by time of day, such as '\''02:00-06:00=full, else=2M'\''.]:TEXT: ' \
        '--max-attempts=[Give up a lecture after N attempts in a row without progress.]:N: ' \
        '--ca-file=[Further root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, over all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Take users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Take users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[The most room that the store'\''s files may take.]:BYTES: ' \
        '--reserve=[Room that is left free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:SOURCE:_files'
}

_lecturectl_list() {
    _arguments -s -S \
        '--sort=[The order.]:ORDER:(title downloaded size expiry priority folder)' \
        '--limit=[At most so many.]:N: ' \
        '--offset=[Leave out the first ones.]:N: ' \
        '*--state=[Only lectures in this state. '\''outdated'\'': an older version is complete; '\''damaged'\'': the file is missing or damaged. Repeatable.]:STATE:(queued loading downloading verifying completed stopped failed removing outdated damaged)' \
        '--type=[Only lectures of this type.]:TYPE:(streaming downloading sample adaptiveStreaming adaptiveDownload)' \
        '--course=[Only lectures of this course.]:NAME: ' \
        '--folder=[Only lectures in this folder.]:NAME: ' \
        '--recent=[Only lectures completed within this time.]:DURATION: ' \
        '--older-than=[Only lectures completed before this time.]:DURATION: ' \
        '--expiring=[Only lectures whose licence ends or must be checked within this time.]:DURATION: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_show() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_status() {
    _arguments -s -S \
        '-w[Keep running and show changes until interrupted.]' \
        '--watch[Keep running and show changes until interrupted.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_why() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_path() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_cat() {
    _arguments -s -S \
        '-r+[Only these bytes, counted from 0; A- and -N work as well.]:A-B: ' \
        '--range=[Only these bytes, counted from 0; A- and -N work as well.]:A-B: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_pause() {
    _arguments -s -S \
        '-a[Pause everything that is not complete.]' \
        '--all[Pause everything that is not complete.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_resume() {
    _arguments -s -S \
        '-a[Resume everything that is paused.]' \
        '--all[Resume everything that is paused.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_cancel() {
    _arguments -s -S \
        '-a[Cancel everything that is not complete.]' \
        '--all[Cancel everything that is not complete.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_reorder() {
    _arguments -s -S \
        '-a[All lectures; with --priority.]' \
        '--all[All lectures; with --priority.]' \
        '--first[Put them before all others of their priority.]' \
        '--last[Put them behind all others of their priority.]' \
        '-p+[Higher goes first; -100 to 100.]:N: ' \
        '--priority=[Higher goes first; -100 to 100.]:N: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_remove() {
    _arguments -s -S \
        '-a[Remove everything but samples.]' \
        '--all[Remove everything but samples.]' \
        '--samples[Remove samples as well.]' \
        '-n[Print what would be removed, and remove nothing.]' \
        '--dry-run[Print what would be removed, and remove nothing.]' \
        '*--state=[Only lectures in this state. '\''outdated'\'': an older version is complete; '\''damaged'\'': the file is missing or damaged. Repeatable.]:STATE:(queued loading downloading verifying completed stopped failed removing outdated damaged)' \
        '--type=[Only lectures of this type.]:TYPE:(streaming downloading sample adaptiveStreaming adaptiveDownload)' \
        '--course=[Only lectures of this course.]:NAME: ' \
        '--folder=[Only lectures in this folder.]:NAME: ' \
        '--recent=[Only lectures completed within this time.]:DURATION: ' \
        '--older-than=[Only lectures completed before this time.]:DURATION: ' \
        '--expiring=[Only lectures whose licence ends or must be checked within this time.]:DURATION: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_verify() {
    _arguments -s -S \
        '-a[Verify all complete lectures.]' \
        '--all[Verify all complete lectures.]' \
        '--repair[Download damaged ranges again.]' \
        '--sample=[Read only this share, chosen by chance.]:PERCENT: ' \
        '--rate=[Bytes a second read at most; for example 50M.]:RATE: ' \
        '--ca-file=[Further root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, over all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Take users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Take users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_licence() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'list:lists licences and whether they permit a play now'
            'show:shows one licence: what it permits, what was used, and every reason against a play'
            'import:keeps a licence file for a lecture'
            'renew:asks the licence servers anew, ten licences a request'
            'regrant:asks the licence servers for new grants, without downloading again'
            'pending:lists completion notices not yet delivered to licence servers'
            'verify:validates licence files without storing them'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            list) _lecturectl_licence_list ;;
            show) _lecturectl_licence_show ;;
            import) _lecturectl_licence_import ;;
            renew) _lecturectl_licence_renew ;;
            regrant) _lecturectl_licence_regrant ;;
            pending) _lecturectl_licence_pending ;;
            verify) _lecturectl_licence_verify ;;
        esac
        ;;
    esac
}

_lecturectl_licence_list() {
    _arguments -s -S \
        '--expiring=[Only what ends or has to be checked within this time, or has been.]:DURATION: ' \
        '--limit=[At most so many.]:N: ' \
        '--offset=[Leave out the first ones.]:N: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_licence_show() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_licence_import() {
    _arguments -s -S \
        '--trust=[Root certificates for tokens that bring their own (x5c).]:CA.PEM:_files' \
        '--crl=[Revocation lists; each certificate must then be covered by one.]:FILE:_files' \
        '--jwks=[A JWK set with the issuers'\'' public keys.]:FILE:_files' \
        '--hmac-key-file=[The raw bytes of a secret for HS256.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_licence_renew() {
    _arguments -s -S \
        '--expired[What has ended or has to be checked; the default.]' \
        '--within=[Also what will have within this time.]:DURATION: ' \
        '-a[Everything that a server gave.]' \
        '--all[Everything that a server gave.]' \
        '-j+[Requests under way at once to one server.]:N: ' \
        '--jobs=[Requests under way at once to one server.]:N: ' \
        '--rate=[Requests a second to one server at the most.]:N: ' \
        '--max-attempts=[Attempts for one licence before it fails for this run.]:N: ' \
        '-n[Print the plan and send no request.]' \
        '--dry-run[Print the plan and send no request.]' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a licence is durably renewed or granted.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_licence_regrant() {
    _arguments -s -S \
        '-a[Every licence that is not trusted.]' \
        '--all[Every licence that is not trusted.]' \
        '--new-device[Take over a store that another device has written.]' \
        '-j+[Requests under way at once to one server.]:N: ' \
        '--jobs=[Requests under way at once to one server.]:N: ' \
        '--rate=[Requests a second to one server at the most.]:N: ' \
        '--max-attempts=[Attempts for one licence before it fails for this run.]:N: ' \
        '-n[Print the plan and send no request.]' \
        '--dry-run[Print the plan and send no request.]' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a licence is durably renewed or granted.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_licence_pending() {
    _arguments -s -S \
        '--pay[Send them now.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_licence_verify() {
    _arguments -s -S \
        '--trust=[Root certificates for tokens that bring their own (x5c).]:CA.PEM:_files' \
        '--crl=[Revocation lists; each certificate must then be covered by one.]:FILE:_files' \
        '--jwks=[A JWK set with the issuers'\'' public keys.]:FILE:_files' \
        '--hmac-key-file=[The raw bytes of a secret for HS256.]:FILE:_files' \
        '--at=[Judge as of this time: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--audience=[What '\''aud'\'' has to name.]:TEXT: ' \
        '--issuer=[What '\''iss'\'' has to be.]:TEXT: ' \
        '--user=[What '\''sub'\'' has to be.]:TEXT: ' \
        '--content=[What '\''mck'\'' has to be.]:KEY: ' \
        '--device=[The player id that '\''cnf'\'' has to name.]:ID: ' \
        '--batch[Judge the lines of standard input.]' \
        '--trust-dir=[Keys for --batch: hs.key, jwks.json, roots.pem, crl.pem, as far as they are there.]:DIR:_files -/' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_lms() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'add:stores reports'
            'list:lists reports, or says what waits for whom and why'
            'send:sends every report that is due'
            'retry:has dead letters sent again'
            'export:writes reports as CSV, JSON Lines or xAPI'
            'import:reads exports back'
            'erase:erases a learner from the store and its copies, and proves it'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            add) _lecturectl_lms_add ;;
            list) _lecturectl_lms_list ;;
            send) _lecturectl_lms_send ;;
            retry) _lecturectl_lms_retry ;;
            export) _lecturectl_lms_export ;;
            import) _lecturectl_lms_import ;;
            erase) _lecturectl_lms_erase ;;
        esac
        ;;
    esac
}

_lecturectl_lms_add() {
    _arguments -s -S \
        '--id=[The report'\''s identity; the same id is never counted twice.]:ID: ' \
        '--user=[The learner.]:ID: ' \
        '--session=[The session; reports of one keep their order.]:TEXT: ' \
        '--seq=[The number in the session.]:N: ' \
        '--json=[The report, a JSON object; - is standard input.]:FILE:_files' \
        '--play=[Make the report from what was played: {"duration_ms": n, "block_count": n, "intervals": \[{"activity", "from_ms", "to_ms", "speed_permille", "wall_ms", "boot_ns", "ended_boot_ns"}\]}; - is standard input.]:FILE:_files' \
        '--content=[The lecture that the report is about.]:KEY:_lecturectl_keys' \
        '--course=[The course.]:NAME: ' \
        '--note=[A text that goes along with the report.]:TEXT: ' \
        '--target=[Where the report goes.]:URL: ' \
        '--format=[What is sent there: the channel'\''s own form, a batch of JSON events, or xAPI statements.]:FORMAT:(kollus json xapi)' \
        '--batch[Store the lines of standard input.]' \
        '--acks[Print '\''ACK ID'\'' beside the lines of the global --json as well.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_list() {
    _arguments -s -S \
        '*--state=[Only this state. Repeatable.]:STATE:(pending leased delivered dead superseded expired)' \
        '--user=[Only this learner.]:ID: ' \
        '--course=[Only this course.]:NAME: ' \
        '--target=[Only what goes there.]:URL: ' \
        '--since=[Nothing that happened before: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--until=[Nothing that happened then or later.]:TIME: ' \
        '--limit=[At most so many.]:N: ' \
        '--offset=[Leave out the first ones.]:N: ' \
        '--ids[Print the ids alone, one a line.]' \
        '--summary[Print the account and the targets.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_send() {
    _arguments -s -S \
        '--target=[Send everything that is open there, whatever the reports carry.]:URL: ' \
        '--format=[What is sent there: the channel'\''s own form, a batch of JSON events, or xAPI statements.]:FORMAT:(kollus json xapi)' \
        '--rate=[Requests a second to one target at the most.]:N: ' \
        '--max-attempts=[Give a target up after it failed so many times in a row.]:N: ' \
        '--longest-wait=[Do not wait for a target longer than this.]:DURATION: ' \
        '--acks[Print '\''ACK ID'\'' on standard output once a report is durably known to be delivered.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_retry() {
    _arguments -s -S \
        '-a[Every dead letter that the other options leave.]' \
        '--all[Every dead letter that the other options leave.]' \
        '--reason=[Only what is dead for this reason.]:REASON:(refused too_large unsupported conflict)' \
        '--since=[Nothing that happened before: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--until=[Nothing that happened then or later.]:TIME: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:ID: '
}

_lecturectl_lms_export() {
    _arguments -s -S \
        '--format=[What is written.]:FORMAT:(csv jsonl xapi)' \
        '--since=[Nothing that happened before; by the corrected time where it is known.]:TIME: ' \
        '--until=[Nothing that happened then or later.]:TIME: ' \
        '*--state=[Only reports in this state. Repeatable.]:STATE:(pending leased delivered dead superseded expired)' \
        '--course=[Only this course.]:NAME: ' \
        '--user=[Only this learner.]:ID: ' \
        '-o+[Where the export is written.]:FILE:_files' \
        '--output=[Where the export is written.]:FILE:_files' \
        '--pseudonymise=[Replace learners by pseudonyms under the key in this file.]:KEYFILE:_files' \
        '-f[Replace the file of --output when it is there.]' \
        '--force[Replace the file of --output when it is there.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_import() {
    _arguments -s -S \
        '--format=[What the files hold.]:FORMAT:(jsonl csv)' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:FILE:_files'
}

_lecturectl_lms_erase() {
    _arguments -s -S \
        '--user=[The learner'\''s id. Needed.]:ID: ' \
        '-f[Also dissolve requests that were never acknowledged; the other reports in them go out once more.]' \
        '--force[Also dissolve requests that were never acknowledged; the other reports in them go out once more.]' \
        '-n[Only say what would be erased.]' \
        '--dry-run[Only say what would be erased.]' \
        '*--forget-copy=[This copy of the store is gone for good: strike it from the list. Repeatable.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_device() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'show:shows the player id and the public key'
            'export:writes a copy of the key that only a passphrase opens'
            'import:takes a copy of a key as this device'\''s'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            show) _lecturectl_device_show ;;
            export) _lecturectl_device_export ;;
            import) _lecturectl_device_import ;;
        esac
        ;;
    esac
}

_lecturectl_device_show() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_device_export() {
    _arguments -s -S \
        '-o+[Where the copy is written; it must not exist yet.]:FILE:_files' \
        '--output=[Where the copy is written; it must not exist yet.]:FILE:_files' \
        '--passphrase-file=[A file with the passphrase, readable by its owner only; without it the terminal asks.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_device_import() {
    _arguments -s -S \
        '--passphrase-file=[A file with the passphrase, readable by its owner only; without it the terminal asks.]:FILE:_files' \
        '--replace[Give up the key that this device has.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_store() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'info:shows the schema version and the effective settings'
            'check:checks the database and the files it names'
            'backup:writes a consistent copy of the database, also while it is in use'
            'migrate:brings the database to this version'\''s schema'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            info) _lecturectl_store_info ;;
            check) _lecturectl_store_check ;;
            backup) _lecturectl_store_backup ;;
            migrate) _lecturectl_store_migrate ;;
        esac
        ;;
    esac
}

_lecturectl_store_info() {
    _arguments -s -S \
        '--ca-file=[Further root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, over all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Take users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Take users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[The most room that the store'\''s files may take.]:BYTES: ' \
        '--reserve=[Room that is left free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_store_check() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_store_backup() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_store_migrate() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_completion() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':SHELL:(bash zsh fish)'
}

_lecturectl_help() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:COMMAND:(precache list show status why path cat pause resume cancel reorder remove verify licence lms device store completion help version)'
}

_lecturectl_version() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object a line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more on standard error.]' \
        '--verbose[Print more on standard error.]' \
        '--progress=[How progress is shown on standard error: bars on a terminal, else a plain line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _lecturectl "$@"
else
    compdef _lecturectl lecturectl
fi
