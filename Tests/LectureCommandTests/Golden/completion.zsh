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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
            'daemon:keeps lectures, licences and reports up to date until it is stopped'
            'serve:shows the store in a browser, and serves it to classrooms, branch servers and programs'
            'access:says who may use '\''lecturectl serve'\'''
            'plan:says whether lectures will be there in time'
            'list:lists lectures'
            'show:shows everything about one lecture'
            'status:shows the whole store at a glance'
            'metrics:prints figures for Prometheus'
            'doctor:examines configuration, store, disk, clock, device key and servers'
            'why:explains the state of a lecture'
            'path:prints the path of an unsealed file'
            'cat:writes media bytes to standard output'
            'play:plays a lecture in a window'
            'export:writes an adaptive lecture into one file'
            'bookmark:manages the bookmarks of lectures'
            'pause:stops lectures until they are resumed'
            'resume:resumes paused and cancelled lectures'
            'cancel:stops lectures until they are requested again'
            'reorder:changes which lecture is downloaded first'
            'remove:deletes lectures and their files'
            'pin:keeps lectures whatever the rules say'
            'unpin:takes the pins of lectures away'
            'prune:removes what the rules do not keep'
            'verify:re-reads lectures and locates damage'
            'licence:manages licences'
            'lms:manages the learning reports for the LMS'
            'webhooks:notifies servers of yours of what happens in the store'
            'bundle:carries lectures to other devices without a network'
            'device:manages the key of this device'
            'store:maintains the database'
            'config:shows and checks the settings'
            'completion:prints completions for a shell'
            'help:explains a command'
            'version:shows the version'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            precache) _lecturectl_precache ;;
            daemon) _lecturectl_daemon ;;
            serve) _lecturectl_serve ;;
            access) _lecturectl_access ;;
            plan) _lecturectl_plan ;;
            list) _lecturectl_list ;;
            show) _lecturectl_show ;;
            status) _lecturectl_status ;;
            metrics) _lecturectl_metrics ;;
            doctor) _lecturectl_doctor ;;
            why) _lecturectl_why ;;
            path) _lecturectl_path ;;
            cat) _lecturectl_cat ;;
            play) _lecturectl_play ;;
            export) _lecturectl_export ;;
            bookmark) _lecturectl_bookmark ;;
            pause) _lecturectl_pause ;;
            resume) _lecturectl_resume ;;
            cancel) _lecturectl_cancel ;;
            reorder) _lecturectl_reorder ;;
            remove) _lecturectl_remove ;;
            pin) _lecturectl_pin ;;
            unpin) _lecturectl_unpin ;;
            prune) _lecturectl_prune ;;
            verify) _lecturectl_verify ;;
            licence) _lecturectl_licence ;;
            lms) _lecturectl_lms ;;
            webhooks) _lecturectl_webhooks ;;
            bundle) _lecturectl_bundle ;;
            device) _lecturectl_device ;;
            store) _lecturectl_store ;;
            config) _lecturectl_config ;;
            completion) _lecturectl_completion ;;
            help) _lecturectl_help ;;
            version) _lecturectl_version ;;
        esac
        ;;
    esac
}

_lecturectl_precache() {
    _arguments -s -S \
        '--ready-by=[Warn when the lectures will not be complete by then, and say when they will again. Local time: '\''Mon 08:00'\'', '\''tomorrow 08:00'\'', '\''08:00'\'', '\''2026-11-30 08:00'\'', or with a zone.]:TIME: ' \
        '--deadline=[Stop after this time with exit status 75. Downloaded data is kept.]:DURATION: ' \
        '--after-input[Wait until standard input ends, then continue with the unfinished lectures in the store. If any input arrives before that, the command exits without downloading.]' \
        '-n[Print what is new, changed, complete and gone, how many bytes there are to download and whether they fit. Nothing is downloaded or stored. --check head asks the servers.]' \
        '--dry-run[Print what is new, changed, complete and gone, how many bytes there are to download and whether they fit. Nothing is downloaded or stored. --check head asks the servers.]' \
        '--key=[The key of the lecture.]:KEY: ' \
        '--title=[The title of the lecture.]:TEXT: ' \
        '--sha256=[The digest that the file must have.]:HEX: ' \
        '*--mirror=[Another URL of the same file. Repeatable.]:URL: ' \
        '-o+[Also put the finished file there.]:FILE:_files' \
        '--output=[Also put the finished file there.]:FILE:_files' \
        '*-H+[A request header for all sources. Other users can see it in the process list; @FILE reads headers from a file, one per line. Repeatable.]:'\''NAME\: VALUE'\'': ' \
        '*--header=[A request header for all sources. Other users can see it in the process list; @FILE reads headers from a file, one per line. Repeatable.]:'\''NAME\: VALUE'\'': ' \
        '--folder=[The folder that the lectures are listed under.]:NAME: ' \
        '-p+[Higher goes first; -100 to 100.]:N: ' \
        '--priority=[Higher goes first; -100 to 100.]:N: ' \
        '--check=[How complete lectures are compared with what is requested: '\''list'\'' compares digest, size and URL; '\''head'\'' also asks the server whether the file has changed; '\''never'\'' compares nothing.]:HOW:(list head never)' \
        '--accept-any[Accept files that do not begin like any known media format, even text, web pages and empty files.]' \
        '--trust-length[Resume a download even if the server does not identify the version of the file. If the file has changed, the result may be half old, half new.]' \
        '--seal[Seal every file, whether it needs a licence or not.]' \
        '--no-seal[Keep the files unsealed so that they can be read in place. Licensed media is refused.]' \
        '--variant=[The variant to keep of those within the limits, or its number in the playlist.]:WHICH:(best worst)' \
        '--max-height=[No variant with more lines, for example 720.]:LINES: ' \
        '--max-bandwidth=[No variant with a higher bit rate, in bits per second; for example 2M.]:RATE: ' \
        '--audio=[The languages of sound to keep, for example '\''ko,en'\'', or '\''all'\''.]:LANG,…: ' \
        '--subtitles=[The languages of subtitles to keep, or '\''all'\''.]:LANG,…: ' \
        '--capture=[Keep a live HLS stream while it goes on, until it ends or until what is kept plays this long.]::[DURATION]: ' \
        '--allow-gaps[Complete a lecture without the segments that its server does not have. '\''lecturectl why'\'' names them.]' \
        '-d+[Also put every finished file into this directory.]:DIR:_files -/' \
        '--output-dir=[Also put every finished file into this directory.]:DIR:_files -/' \
        '--name=[The file names below --output-dir, for example '\''{course}/{number:02} {title}.{ext}'\''. Fields: course, folder, teacher, title, number (the position in its list), key, name (of the URL), ext. Characters that are not allowed in file names become '\''_'\''.]:TEMPLATE: ' \
        '--report=[Write the lectures that failed or stopped to this course list, each with the reason.]:FILE:_files' \
        '--force[Replace existing files at --output or below --output-dir. Without it, only files that LectureKit has written for the same lecture are replaced.]' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a lecture is durably complete.]' \
        '--prune[Remove lectures that have left the list and are in no other one. Only after a complete run in which every list was read without a refused line and every gateway link led to a lecture. Samples are kept.]' \
        '--keep=[Remove only lectures that left the list at least this long ago.]:DURATION: ' \
        '--max-delete=[Remove nothing if more than this number, or share (10%), of the list'\''s lectures would be removed.]:LIMIT: ' \
        '--list-name=[The name under which the list is recorded; required for --prune with standard input.]:NAME: ' \
        '*--from=[Fetch what the branch server there has ('\''lecturectl serve'\''), proven by digest, and only the rest from the internet. Repeatable; asked in this order.]:URL: ' \
        '--from-token-file=[The token with the role peer of that server, or a line '\''URL TOKEN'\'' for each. Only you may be able to read the file.]:FILE:_files' \
        '*--from-trust=[The public key of a branch server ('\''lecturectl device show'\'' there): what it says is believed where the list names no digest. Repeatable.]:FILE:_files' \
        '-c+[Parallel ranges of one file.]:N:(auto)' \
        '--connections=[Parallel ranges of one file.]:N:(auto)' \
        '--limit-rate=[Maximum bytes per second, across all lectures; for example 2M.]:RATE: ' \
        '--timetable=[Rates by time of day, such as '\''02:00-06:00=full, else=2M'\''.]:TEXT: ' \
        '--max-attempts=[Give up a lecture after N attempts in a row without progress.]:N: ' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:SOURCE:_files'
}

_lecturectl_daemon() {
    _arguments -s -S \
        '*--courses=[A course list, or a directory with course lists (.jsonl, .csv, .txt), to follow. Repeatable. Default: daemon.courses, else $CONFIGURATION_DIRECTORY/courses.]:PATH:_files' \
        '--renew-within=[Renew licences this long before they end.]:DURATION: ' \
        '-c+[Parallel ranges of one file.]:N:(auto)' \
        '--connections=[Parallel ranges of one file.]:N:(auto)' \
        '--limit-rate=[Maximum bytes per second, across all lectures; for example 2M.]:RATE: ' \
        '--timetable=[Rates by time of day, such as '\''02:00-06:00=full, else=2M'\''.]:TEXT: ' \
        '--max-attempts=[Give up a lecture after N attempts in a row without progress.]:N: ' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_serve() {
    _arguments -s -S \
        '--listen=[Where it listens: an IPv4 address of this machine, and a port; 0 for any free one.]:ADDRESS\:PORT: ' \
        '*--name=[A name of this server in the network, without a port. Repeatable.]:HOST: ' \
        '--tls-cert=[The certificate in PEM, with those that lead to its root.]:FILE:_files' \
        '--tls-key=[Its private key in PEM, which only its owner may read.]:FILE:_files' \
        '--behind-proxy[A proxy in front of the server ends TLS.]' \
        '--access=[The access file: who may use the server.]:FILE:_files' \
        '-c+[Parallel ranges of one file.]:N:(auto)' \
        '--connections=[Parallel ranges of one file.]:N:(auto)' \
        '--limit-rate=[Maximum bytes per second, across all lectures; for example 2M.]:RATE: ' \
        '--timetable=[Rates by time of day, such as '\''02:00-06:00=full, else=2M'\''.]:TEXT: ' \
        '--max-attempts=[Give up a lecture after N attempts in a row without progress.]:N: ' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_access() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'add:adds a person or a program, and prints the token, which is shown only once'
            'list:lists who may use the server'
            'remove:removes a person or a program: the token and its sessions are over'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            add) _lecturectl_access_add ;;
            list) _lecturectl_access_list ;;
            remove) _lecturectl_access_remove ;;
        esac
        ;;
    esac
}

_lecturectl_access_add() {
    _arguments -s -S \
        '--role=[viewer: watches lectures; peer: fetches them for another store; operator: does everything.]:ROLE:(viewer peer operator)' \
        '--access=[The access file: who may use the server.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':NAME: '
}

_lecturectl_access_list() {
    _arguments -s -S \
        '--access=[The access file: who may use the server.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_access_remove() {
    _arguments -s -S \
        '--access=[The access file: who may use the server.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':NAME: '
}

_lecturectl_plan() {
    _arguments -s -S \
        '--course=[The lectures of this course.]:NAME: ' \
        '--items=[The lectures of this course list, as '\''precache'\'' reads it.]:FILE:_files' \
        '--check=[With --items: '\''head'\'' asks the servers for sizes that the list does not have.]:HOW:(list head never)' \
        '--ready-by=[By when; without it, only the end is computed. Local time: '\''Mon 08:00'\'', '\''tomorrow 08:00'\'', '\''08:00'\'', '\''2026-11-30 08:00'\'', or with a zone.]:TIME: ' \
        '--speed=[Bytes a second of every server, in place of what was measured.]:RATE: ' \
        '--limit-rate=[Maximum bytes per second, across all lectures; for example 2M.]:RATE: ' \
        '--timetable=[Rates by time of day, such as '\''02:00-06:00=full, else=2M'\''.]:TEXT: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_list() {
    _arguments -s -S \
        '--sort=[The order.]:ORDER:(title downloaded size expiry priority folder)' \
        '--limit=[At most N lectures.]:N: ' \
        '--offset=[Skip the first N lectures.]:N: ' \
        '*--state=[Only lectures in this state. '\''outdated'\'': an older version is complete; '\''damaged'\'': the file is missing or damaged. Repeatable.]:STATE:(queued loading downloading verifying completed stopped failed removing outdated damaged)' \
        '--type=[Only lectures of this type.]:TYPE:(streaming downloading sample adaptiveStreaming adaptiveDownload)' \
        '--course=[Only lectures of this course.]:NAME: ' \
        '--folder=[Only lectures in this folder.]:NAME: ' \
        '--recent=[Only lectures completed within this time.]:DURATION: ' \
        '--older-than=[Only lectures completed before this time.]:DURATION: ' \
        '--expiring=[Only lectures whose licence ends or must be checked within this time.]:DURATION: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_metrics() {
    _arguments -s -S \
        '-o+[Write this file; its name ends in .prom for node_exporter.]:FILE:_files' \
        '--output=[Write this file; its name ends in .prom for node_exporter.]:FILE:_files' \
        '*--label=[Add a label to every figure, for machines with several stores. Repeatable.]:NAME=VALUE: ' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_doctor() {
    _arguments -s -S \
        '--offline[Ask no server.]' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:SERVER: '
}

_lecturectl_why() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_play() {
    _arguments -s -S \
        '--stream[Stream a URL even when its lecture was downloaded.]' \
        '--start=[Begin here: 90, 12:30, 1:02:03.]:TIME: ' \
        '--section=[Play only this part: 12:30-15:00.]:A-B: ' \
        '--repeat=[Play this part again and again.]:A-B: ' \
        '--speed=[The speed, 0.5 to 10.]:N: ' \
        '--no-video[Play only the sound, without a window.]' \
        '--subtitles=[Show these subtitles.]:FILE:_files' \
        '--subtitle-language=[Show the lecture'\''s own subtitles in this language, for instance ko.]:LANG: ' \
        '--second-subtitle-language=[Show those of another language as well, at the top.]:LANG: ' \
        '--fullscreen[Fill the screen.]' \
        '--audio-output=[The audio output, as mpv names it: pulse, alsa; null plays in silence.]:NAME: ' \
        '--video-output=[The video output, as mpv names it: gpu, x11, wlshm.]:NAME: ' \
        '--user=[The learner in the reports.]:ID: ' \
        '--with=[Play with this program; spaces separate its name and its options. No shell is used.]:COMMAND: ' \
        '--url[Print a URL for one program, for instance a browser.]' \
        '--port=[With --with or --url: the port of 127.0.0.1 that is served; 0 is any free one.]:N: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY|URL:_lecturectl_keys'
}

_lecturectl_export() {
    _arguments -s -S \
        '-o+[Where the file is written.]:FILE:_files' \
        '--output=[Where the file is written.]:FILE:_files' \
        '--format=[The container.]:NAME:(mp4 mkv ts)' \
        '--force[Replace a file of this name.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_bookmark() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'list:lists the bookmarks of a lecture, by position'
            'add:sets a bookmark; one at the same position is replaced'
            'remove:removes bookmarks of the learner'
            'sync:sends changes to the bookmark server, and takes over what it has'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            list) _lecturectl_bookmark_list ;;
            add) _lecturectl_bookmark_add ;;
            remove) _lecturectl_bookmark_remove ;;
            sync) _lecturectl_bookmark_sync ;;
        esac
        ;;
    esac
}

_lecturectl_bookmark_list() {
    _arguments -s -S \
        '--user=[The learner.]:ID: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_bookmark_add() {
    _arguments -s -S \
        '--user=[The learner.]:ID: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys' \
        ':TIME: ' \
        '::TEXT: '
}

_lecturectl_bookmark_remove() {
    _arguments -s -S \
        '--user=[The learner.]:ID: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys' \
        '*:TIME: '
}

_lecturectl_bookmark_sync() {
    _arguments -s -S \
        '--user=[The learner.]:ID: ' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_pause() {
    _arguments -s -S \
        '-a[Pause everything that is not complete.]' \
        '--all[Pause everything that is not complete.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--last[Put them after all others of their priority.]' \
        '-p+[Higher goes first; -100 to 100.]:N: ' \
        '--priority=[Higher goes first; -100 to 100.]:N: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_remove() {
    _arguments -s -S \
        '-a[Remove everything except samples.]' \
        '--all[Remove everything except samples.]' \
        '--samples[Also remove samples.]' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_pin() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_unpin() {
    _arguments -s -S \
        '-a[Take all pins away.]' \
        '--all[Take all pins away.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_prune() {
    _arguments -s -S \
        '-n[Print what would be removed and why, and remove nothing.]' \
        '--dry-run[Print what would be removed and why, and remove nothing.]' \
        '-y[Accept the rules of the configuration, also for later runs.]' \
        '--yes[Accept the rules of the configuration, also for later runs.]' \
        '*--rule=[A rule, in place of the configuration'\''s. Repeatable.]:RULE: ' \
        '--max-delete=[Remove nothing if more than this number, or share (10%), of the complete lectures would go.]:LIMIT: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_verify() {
    _arguments -s -S \
        '-a[Verify all complete lectures.]' \
        '--all[Verify all complete lectures.]' \
        '--repair[Download damaged ranges again.]' \
        '--sample=[Read only this share, chosen at random.]:PERCENT: ' \
        '--rate=[Maximum bytes per second to read; for example 50M.]:RATE: ' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'list:lists licences and whether they allow playing now'
            'show:shows one licence: what it permits, what was used, and every reason why it does not allow playing'
            'import:stores a licence file for a lecture'
            'rekey:changes the keys that count for licences, as their provider states'
            'renew:renews licences, ten per request to their servers'
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
            rekey) _lecturectl_licence_rekey ;;
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
        '--expiring=[Only licences that end or must be checked within this time, or are overdue.]:DURATION: ' \
        '--limit=[At most N licences.]:N: ' \
        '--offset=[Skip the first N licences.]:N: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':KEY:_lecturectl_keys'
}

_lecturectl_licence_import() {
    _arguments -s -S \
        '--trust=[Root certificates for tokens that carry their own chain (x5c).]:CA.PEM:_files' \
        '--crl=[Revocation lists; each certificate must then be covered by one.]:FILE:_files' \
        '--jwks=[A JWK set with the issuers'\'' public keys.]:FILE:_files' \
        '--hmac-key-file=[The raw bytes of a secret for HS256.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_licence_rekey() {
    _arguments -s -S \
        '--trust=[Root certificates for tokens that carry their own chain (x5c).]:CA.PEM:_files' \
        '--crl=[Revocation lists; each certificate must then be covered by one.]:FILE:_files' \
        '--jwks=[A JWK set with the issuers'\'' public keys.]:FILE:_files' \
        '--hmac-key-file=[The raw bytes of a secret for HS256.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_licence_renew() {
    _arguments -s -S \
        '--expired[Licences that have ended or must be checked; the default.]' \
        '--within=[Also licences that end or must be checked within this time.]:DURATION: ' \
        '-a[All licences that a server granted.]' \
        '--all[All licences that a server granted.]' \
        '-j+[Maximum concurrent requests to one server.]:N: ' \
        '--jobs=[Maximum concurrent requests to one server.]:N: ' \
        '--rate=[Maximum requests per second to one server.]:N: ' \
        '--max-attempts=[Attempts for one licence before it fails for this run.]:N: ' \
        '-n[Print the plan and send no request.]' \
        '--dry-run[Print the plan and send no request.]' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a licence is durably renewed or granted.]' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_licence_regrant() {
    _arguments -s -S \
        '-a[All licences that are not trusted.]' \
        '--all[All licences that are not trusted.]' \
        '--new-device[Take over a store that another device has written.]' \
        '-j+[Maximum concurrent requests to one server.]:N: ' \
        '--jobs=[Maximum concurrent requests to one server.]:N: ' \
        '--rate=[Maximum requests per second to one server.]:N: ' \
        '--max-attempts=[Attempts for one licence before it fails for this run.]:N: ' \
        '-n[Print the plan and send no request.]' \
        '--dry-run[Print the plan and send no request.]' \
        '--acks[Print '\''ACK KEY'\'' on standard output once a licence is durably renewed or granted.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_licence_pending() {
    _arguments -s -S \
        '--pay[Send the notices now.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_licence_verify() {
    _arguments -s -S \
        '--trust=[Root certificates for tokens that carry their own chain (x5c).]:CA.PEM:_files' \
        '--crl=[Revocation lists; each certificate must then be covered by one.]:FILE:_files' \
        '--jwks=[A JWK set with the issuers'\'' public keys.]:FILE:_files' \
        '--hmac-key-file=[The raw bytes of a secret for HS256.]:FILE:_files' \
        '--at=[Validate for this time: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--audience=[The value that '\''aud'\'' must contain.]:TEXT: ' \
        '--issuer=[The value that '\''iss'\'' must have.]:TEXT: ' \
        '--user=[The value that '\''sub'\'' must have.]:TEXT: ' \
        '--content=[The value that '\''mck'\'' must have.]:KEY: ' \
        '--device=[The player id that '\''cnf'\'' must name.]:ID: ' \
        '--batch[Validate the lines of standard input.]' \
        '--trust-dir=[Keys for --batch: those of hs.key, jwks.json, roots.pem and crl.pem that exist.]:DIR:_files -/' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
            'list:lists reports, or sums up what is waiting for which target and why'
            'send:sends every report that is due'
            'retry:queues dead letters to be sent again'
            'export:writes reports as CSV, JSON Lines or xAPI'
            'import:imports exported reports'
            'erase:erases a learner from the store and its copies, and verifies it'
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
        '--session=[The session; reports of one session keep their order.]:TEXT: ' \
        '--seq=[The number in the session.]:N: ' \
        '--json=[The report, a JSON object; - is standard input.]:FILE:_files' \
        '--play=[Make the report from the intervals played: {"duration_ms": n, "block_count": n, "intervals": \[{"activity", "from_ms", "to_ms", "speed_permille", "wall_ms", "boot_ns", "ended_boot_ns"}\]}; - is standard input.]:FILE:_files' \
        '--content=[The lecture that the report is about.]:KEY:_lecturectl_keys' \
        '--course=[The course.]:NAME: ' \
        '--note=[A text to send with the report.]:TEXT: ' \
        '--target=[Where the report goes.]:URL: ' \
        '--format=[The format to send: the channel'\''s own form, a batch of JSON events, or xAPI statements.]:FORMAT:(kollus json xapi)' \
        '--batch[Store the lines of standard input.]' \
        '--acks[Also print '\''ACK ID'\'' beside the lines of the global --json.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--target=[Only reports for this target.]:URL: ' \
        '--since=[Only reports from this time on: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--until=[Only reports from before this time.]:TIME: ' \
        '--limit=[At most N reports.]:N: ' \
        '--offset=[Skip the first N reports.]:N: ' \
        '--ids[Print only the ids, one per line.]' \
        '--summary[Print the counts and the targets.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_send() {
    _arguments -s -S \
        '--target=[Send all open reports there, whatever target they carry.]:URL: ' \
        '--format=[The format to send: the channel'\''s own form, a batch of JSON events, or xAPI statements.]:FORMAT:(kollus json xapi)' \
        '--rate=[Maximum requests per second to one target.]:N: ' \
        '--max-attempts=[Give up on a target after N failures in a row.]:N: ' \
        '--longest-wait=[Do not wait for a target longer than this.]:DURATION: ' \
        '--acks[Print '\''ACK ID'\'' on standard output once a report'\''s delivery is durably recorded.]' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_retry() {
    _arguments -s -S \
        '-a[Every dead letter that the other options match.]' \
        '--all[Every dead letter that the other options match.]' \
        '--reason=[Only dead letters with this reason.]:REASON:(refused too_large unsupported conflict)' \
        '--since=[Only reports from this time on: seconds since 1970, or 2026-03-01T08:00:00Z.]:TIME: ' \
        '--until=[Only reports from before this time.]:TIME: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:ID: '
}

_lecturectl_lms_export() {
    _arguments -s -S \
        '--format=[The format to write.]:FORMAT:(csv jsonl xapi)' \
        '--since=[Only reports from this time on, by the corrected time if it is known.]:TIME: ' \
        '--until=[Only reports from before this time.]:TIME: ' \
        '*--state=[Only reports in this state. Repeatable.]:STATE:(pending leased delivered dead superseded expired)' \
        '--course=[Only this course.]:NAME: ' \
        '--user=[Only this learner.]:ID: ' \
        '-o+[Where the export is written.]:FILE:_files' \
        '--output=[Where the export is written.]:FILE:_files' \
        '--pseudonymise=[Replace learners by pseudonyms under the key in this file.]:KEYFILE:_files' \
        '-f[Replace the file of --output if it exists.]' \
        '--force[Replace the file of --output if it exists.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_lms_import() {
    _arguments -s -S \
        '--format=[The format of the files.]:FORMAT:(jsonl csv)' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:FILE:_files'
}

_lecturectl_lms_erase() {
    _arguments -s -S \
        '--user=[The learner'\''s id. Required.]:ID: ' \
        '-f[Also break up requests that were never acknowledged; the other reports in them are sent again.]' \
        '--force[Also break up requests that were never acknowledged; the other reports in them are sent again.]' \
        '-n[Only print what would be erased.]' \
        '--dry-run[Only print what would be erased.]' \
        '*--forget-copy=[This copy of the store no longer exists: remove it from the list. Repeatable.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_webhooks() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'list:lists the endpoints and what waits for each, or the events that wait'
            'send:sends every event that waits'
            'retry:lets events that were refused for good wait again'
            'test:sends a test and prints the answer'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            list) _lecturectl_webhooks_list ;;
            send) _lecturectl_webhooks_send ;;
            retry) _lecturectl_webhooks_retry ;;
            test) _lecturectl_webhooks_test ;;
        esac
        ;;
    esac
}

_lecturectl_webhooks_list() {
    _arguments -s -S \
        '--waiting[List the events that wait.]' \
        '--dead[List the events that were refused for good.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_webhooks_send() {
    _arguments -s -S \
        '--endpoint=[Only to this endpoint.]:NUMBER|URL: ' \
        '--max-attempts=[Give up on an endpoint after N failures in a row.]:N: ' \
        '--longest-wait=[Do not wait for an endpoint longer than this.]:DURATION: ' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_webhooks_retry() {
    _arguments -s -S \
        '--endpoint=[Only this endpoint.]:NUMBER|URL: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_webhooks_test() {
    _arguments -s -S \
        '--endpoint=[Only to this endpoint.]:NUMBER|URL: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_bundle() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'create:writes lectures to a bundle'
            'list:lists the lectures of a bundle'
            'verify:compares every byte of a bundle with what was signed'
            'import:takes the lectures of a bundle into the store'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            create) _lecturectl_bundle_create ;;
            list) _lecturectl_bundle_list ;;
            verify) _lecturectl_bundle_verify ;;
            import) _lecturectl_bundle_import ;;
        esac
        ;;
    esac
}

_lecturectl_bundle_create() {
    _arguments -s -S \
        '*--for=[The public key of a device that may open it, as '\''device show'\'' prints it. Repeatable.]:FILE:_files' \
        '--course=[The lectures of this course.]:NAME: ' \
        '--have=[Leave out what the other device has: the output of '\''list --json'\'' there; - is standard input.]:FILE:_files' \
        '--sign-with=[The private key that signs it (PEM, P-256 or Ed25519).]:FILE:_files' \
        '-f[Replace the file.]' \
        '--force[Replace the file.]' \
        '-n[Print what would be in it, and write nothing.]' \
        '--dry-run[Print what would be in it, and write nothing.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_bundle_list() {
    _arguments -s -S \
        '*--trust=[A public key whose bundles are trusted: a JWK or a JWK set, as '\''device show'\'' prints it. Repeatable.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_bundle_verify() {
    _arguments -s -S \
        '*--trust=[A public key whose bundles are trusted: a JWK or a JWK set, as '\''device show'\'' prints it. Repeatable.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files'
}

_lecturectl_bundle_import() {
    _arguments -s -S \
        '*--trust=[A public key whose bundles are trusted: a JWK or a JWK set, as '\''device show'\'' prints it. Repeatable.]:FILE:_files' \
        '--acks[Print '\''ACK KEY'\'' on standard output for each complete lecture.]' \
        '--deadline=[Stop after this time with exit status 75. What was imported is kept.]:DURATION: ' \
        '-n[Print what would be imported, and import nothing.]' \
        '--dry-run[Print what would be imported, and import nothing.]' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        ':FILE:_files' \
        '*:KEY:_lecturectl_keys'
}

_lecturectl_device() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
            'export:writes a copy of the key, protected by a passphrase'
            'import:imports a copy of a key as this device'\''s key'
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--passphrase-file=[A file with the passphrase, readable only by its owner; without it the passphrase is typed.]:FILE:_files' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_device_import() {
    _arguments -s -S \
        '--passphrase-file=[A file with the passphrase, readable only by its owner; without it the passphrase is typed.]:FILE:_files' \
        '--replace[Replace the key that this device has.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
            'check:checks the database and the files it refers to'
            'backup:writes a consistent copy of the database, even while it is in use'
            'migrate:updates the database to this version'\''s schema'
            'rebuild:makes lectures of the media files of a lost database'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            info) _lecturectl_store_info ;;
            check) _lecturectl_store_check ;;
            backup) _lecturectl_store_backup ;;
            migrate) _lecturectl_store_migrate ;;
            rebuild) _lecturectl_store_rebuild ;;
        esac
        ;;
    esac
}

_lecturectl_store_info() {
    _arguments -s -S \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_store_backup() {
    _arguments -s -S \
        '*--delete-copy=[Then delete this older copy, so that '\''lms erase'\'' does not look for it. Repeatable.]:FILE:_files' \
        '--on-success=[Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing.]:COMMAND: ' \
        '--on-failure=[The same for every other status, but not when a signal ended it.]:COMMAND: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_store_rebuild() {
    _arguments -s -S \
        '--delete-unusable[Delete the files that can never be used without the lost database.]' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:LIST:_files'
}

_lecturectl_config() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '1: :->command' '*:: :->rest' && return
    case $state in
    command)
        commands=(
            'show:shows the effective settings'
            'check:checks the configuration file and the files it names'
        )
        _describe -t commands command commands
        ;;
    rest)
        case $line[1] in
            show) _lecturectl_config_show ;;
            check) _lecturectl_config_check ;;
        esac
        ;;
    esac
}

_lecturectl_config_show() {
    _arguments -s -S \
        '--origin[Show which file, variable or option each value comes from.]' \
        '--ca-file=[Additional root certificates (PEM). Verification is never switched off.]:FILE:_files' \
        '--proxy=[The proxy for all requests.]:URL: ' \
        '--timeout=[Abort a request after this long without receiving data.]:DURATION: ' \
        '--retries=[Retry a failed request N times.]:N: ' \
        '--per-host=[Connections to one server, across all lectures.]:N: ' \
        '-j+[Lectures downloaded at once.]:N: ' \
        '--jobs=[Lectures downloaded at once.]:N: ' \
        '--credentials-file=[Request headers by server, as JSON: {"https://host": {"headers": {…}}}. Each server gets its own.]:FILE:_files' \
        '--netrc[Read users and passwords of servers from ~/.netrc.]' \
        '--netrc-file=[Read users and passwords of servers from this file.]:FILE:_files' \
        '--client-cert=[The certificate (PEM) for servers that ask for one.]:FILE:_files' \
        '--client-key=[The key (PEM) of --client-cert; without it the certificate'\''s file holds the key.]:FILE:_files' \
        '--quota=[Maximum space for the store'\''s files.]:BYTES: ' \
        '--reserve=[Space to leave free on the disk.]:BYTES: ' \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]'
}

_lecturectl_config_check() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '::FILE:_files'
}

_lecturectl_completion() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
        '--color=[When colours are used. NO_COLOR is respected.]:WHEN:(auto always never)' \
        '-h[Show this help.]' \
        '--help[Show this help.]' \
        '-V[Show the version.]' \
        '--version[Show the version.]' \
        '*:COMMAND:(precache daemon serve access plan list show status metrics doctor why path cat play export bookmark pause resume cancel reorder remove pin unpin prune verify licence lms webhooks bundle device store config completion help version)'
}

_lecturectl_version() {
    _arguments -s -S \
        '--store=[The store'\''s directory.]:DIR:_files -/' \
        '--config=[The configuration file.]:FILE:_files' \
        '--json[Print one JSON object per line on standard output.]' \
        '-q[Print errors only.]' \
        '--quiet[Print errors only.]' \
        '-v[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--verbose[Print more messages on standard error; -vv: also every request, without secrets.]' \
        '--log-format=[How messages on standard error are written; text and json: with their time and level.]:FORMAT:(auto text json journal)' \
        '--progress=[How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.]:HOW:(auto bar plain none)' \
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
