import LectureTestSupport

/// Errors that the program can be brought to, each with a script that ends it by what its message says. The commands of
/// the scripts are those of ``RemedyWalkTests``.
enum RemedyScripts {
    /// The words `webhook STATUS`, which configures an endpoint of the site, and `answer STATUS`.
    private static let webhook = #"""
        answer() { echo "$1" >site/hook.status; }
        webhook() {
            export LECTURE_CONFIG=$PWD/config.json
            (umask 077; echo "whsec_$(head -c 32 /dev/urandom | base64)" >secret)
            echo "{\"webhooks\": [{\"url\": \"$url/hook\", \"secret_file\": \"secret\"}]}" >config.json
            answer "$1"
        }
        """#

    /// Hides a library from the program.
    private static func hiding(_ library: String) -> String {
        #"""
        library=$(/sbin/ldconfig -p | sed -n 's|.*\#(library) .*=> ||p' | head -n 1)
        cat >without <<SCRIPT
        #!/bin/sh
        exec unshare --mount sh -c 'mount --bind /dev/null $library && exec $lecturectl "\$@"' sh "\$@"
        SCRIPT
        sed -i 's/^ *//' without; chmod 755 without
        installed=$lecturectl; lecturectl=$PWD/without
        """#
    }

    /// A lecture that can be played.
    /// A lecture that can be played.
    private static let lecture = "\(Places.repository())/Tools/lecture-sandbox/Fixtures/durable-on-the-disk.mp4"

    /// The scripts by the names of the errors.
    static let all: [String: String] = [
        "bookmark_answer": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        echo "{\"lms\":{\"bookmark_url\":\"$url/bookmarks\"}}" >c.json
        echo 'not today' >site/bookmarks
        works bookmark add a 1:30 words
        fails bookmark_answer --config c.json bookmark sync a
        [ "$("$lecturectl" --json bookmark list a | wc -l)" = 1 ]
        echo '{"error":0,"result":{"bookmark_positions":[{"position":90,"value":"words","kind":0}]}}' >site/bookmarks
        works --config c.json bookmark sync a
        """#,
        "bookmark_invalid": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        fails bookmark_invalid bookmark add a 1:30 "$(head -c 5000 /dev/zero | tr '\0' x)"
        works bookmark add a 1:30 words
        """#,
        "bookmark_missing": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        works bookmark add a 1:30 words
        fails bookmark_missing bookmark remove a 1:31
        works bookmark remove a "$("$lecturectl" bookmark list a | awk '{ print $1 }')"
        """#,
        "bookmark_server_missing": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        works bookmark add a 1:30 words
        fails bookmark_server_missing bookmark sync a
        echo "{\"lms\":{\"bookmark_url\":\"$url/bookmarks\"}}" >c.json
        echo '{"error":0,"result":{"bookmark_positions":[{"position":90,"value":"words","kind":0}]}}' >site/bookmarks
        works --config c.json bookmark sync a
        """#,
        "configuration": #"""
        echo '{"network":{"jobs":0}}' >c.json
        fails configuration --config c.json list
        echo '{"network":{"jobs":1}}' >c.json
        works --config c.json list
        """#,
        "connect": #"""
        film a.mp4
        fails connect precache --max-attempts 1 --key a http://127.0.0.1:1/a.mp4
        works precache --key a "$url/a.mp4"
        """#,
        "course_line": #"""
        film a.mp4
        echo '{"url":7}' >list.jsonl
        fails course_line precache list.jsonl
        echo "{\"url\":\"$url/a.mp4\"}" >list.jsonl
        works precache list.jsonl
        """#,
        "course_list": #"""
        film a.mp4
        echo "$url/a.mp4" >list.doc
        fails course_list precache list.doc
        cp list.doc list.txt
        works precache list.txt
        """#,
        "create_directory": #"""
        fails create_directory --store /proc/store precache
        works --store "$PWD/store" precache
        """#,
        "create_file": #"""
        works device show
        works lms add --id a
        touch copy.db
        fails create_file store backup copy.db
        works store backup other.db
        """#,
        "deadline": #"""
        film a.mp4 4000000
        ends_with 'the deadline passed' precache --deadline 1s --limit-rate 1M --key a "$url/a.mp4"
        works precache
        """#,
        "display_missing": #"""
        cp \#(lecture) site/a.mp4
        works precache --key a "$url/a.mp4"
        fails display_missing play a
        works play --no-video --audio-output null --speed 10 a
        works cat a
        """#,
        "device_key_in_use": #"""
        works device show
        printf 'words\n' >pass
        chmod 600 pass
        works device export --passphrase-file pass --output copy.key
        export LECTURE_DEVICE=$PWD/other
        works device show
        fails device_key_in_use device import --passphrase-file pass copy.key
        works device export --passphrase-file pass --output other.key
        works device import --replace --passphrase-file pass copy.key
        """#,
        "device_key_refused": #"""
        works device show
        chmod 644 home/.local/share/lecturekit-device/device.key
        fails device_key_refused device show
        chmod 600 home/.local/share/lecturekit-device/device.key
        works device show
        """#,
        "digest_mismatch": #"""
        film a.mp4
        fails digest_mismatch precache --sha256 "$(printf '%064d' 0)" "$url/a.mp4"
        works precache --sha256 "$(sha256sum <site/a.mp4 | cut -c1-64)" "$url/a.mp4"
        """#,
        "empty_answer": #"""
        film a.mp4
        coproc SILENT { exec python3 -uc '
        import socket
        server = socket.create_server(("127.0.0.1", 0)); print(server.getsockname()[1]); kept = []
        while True: peer = server.accept()[0]; peer.recv(65536); peer.close()'; }
        read -r port <&"${SILENT[0]}"
        fails empty_answer precache --max-attempts 1 --key a "http://127.0.0.1:$port/a.mp4"
        kill -KILL "$SILENT_PID"
        works precache --key a "$url/a.mp4"
        """#,
        "export_incomplete": #"""
        works lms add --id a
        works lms add --id b
        works lms export --output r.jsonl
        head -n 1 r.jsonl >short.jsonl
        fails export_incomplete lms import short.jsonl
        works lms import r.jsonl
        """#,
        "headers_sealed": #"""
        film a.mp4
        echo secret >site/a.mp4.needs
        fails http_401 precache --key a --header 'X-Pass: wrong' "$url/a.mp4"
        export LECTURE_DEVICE=$PWD/other
        fails headers_sealed precache --key a "$url/a.mp4"
        works precache --key a --header 'X-Pass: secret' "$url/a.mp4"
        """#,
        "http_401": #"""
        film a.mp4
        echo secret >site/a.mp4.needs
        fails http_401 precache --key a "$url/a.mp4"
        works precache --key a --header 'X-Pass: secret' "$url/a.mp4"
        """#,
        "http_403": #"""
        film a.mp4
        echo 403 >site/b.mp4.status
        fails http_403 precache --key a "$url/b.mp4"
        works precache --key a "$url/a.mp4"
        """#,
        "http_404": #"""
        film a.mp4
        fails http_404 precache --key a "$url/b.mp4"
        works precache --key a "$url/a.mp4"
        """#,
        "http_407": #"""
        film a.mp4
        echo 407 >site/b.mp4.status
        fails http_407 precache --key a "$url/b.mp4"
        works precache --key a "$url/a.mp4"
        """#,
        "http_410": #"""
        film a.mp4
        echo 410 >site/b.mp4.status
        fails http_410 precache --key a "$url/b.mp4"
        works precache --key a "$url/a.mp4"
        """#,
        "http_429": #"""
        film a.mp4
        echo 429 >site/a.mp4.status
        fails http_429 precache --max-attempts 1 --key a "$url/a.mp4"
        rm site/a.mp4.status
        works precache --key a "$url/a.mp4"
        """#,
        "http_500": #"""
        film a.mp4
        echo 500 >site/a.mp4.status
        fails http_500 precache --max-attempts 1 --key a "$url/a.mp4"
        rm site/a.mp4.status
        works precache --key a "$url/a.mp4"
        """#,
        "http_502": #"""
        film a.mp4
        echo 502 >site/a.mp4.status
        fails http_502 precache --max-attempts 1 --key a "$url/a.mp4"
        rm site/a.mp4.status
        works precache --key a "$url/a.mp4"
        """#,
        "http_503": #"""
        film a.mp4
        echo 503 >site/a.mp4.status
        fails http_503 precache --max-attempts 1 --key a "$url/a.mp4"
        rm site/a.mp4.status
        works precache --key a "$url/a.mp4"
        """#,
        "http_504": #"""
        film a.mp4
        echo 504 >site/a.mp4.status
        fails http_504 precache --max-attempts 1 --key a "$url/a.mp4"
        rm site/a.mp4.status
        works precache --key a "$url/a.mp4"
        """#,
        "interrupted": #"""
        film a.mp4 4000000
        mkfifo out
        "$lecturectl" --json precache --limit-rate 1M --key a "$url/a.mp4" >out 2>errors &
        run=$!
        exec 5<out
        read -r _ <&5
        kill -TERM "$run"
        cat <&5 >rest
        wait "$run" || true
        grep -q 'the run was interrupted' errors
        works precache
        """#,
        "licence_file_refused": #"""
        kind='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
        openssl req -x509 $kind -keyout key.pem -days 1 -subj /CN=x -out roots.pem 2>/dev/null
        echo '{"drm":{"keys":[{"ca_file":"roots.pem"}]}}' >config.json
        echo x.y.z >licence.jwt
        fails licence_file_refused --config config.json licence import licence.jwt
        ends_with 'is not base64url' --config config.json licence verify licence.jwt
        """#,
        "licence_key_missing": #"""
        kind='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
        openssl req -x509 $kind -keyout key.pem -days 1 -subj /CN=x -out roots.pem 2>/dev/null
        echo x.y.z >licence.jwt
        fails licence_key_missing licence import licence.jwt
        echo '{"drm":{"keys":[{"ca_file":"roots.pem"}]}}' >config.json
        fails licence_file_refused --config config.json licence import licence.jwt
        """#,
        "migration_changed": #"""
        works --store "$PWD/store" lms add --id a
        python3 - <<X
        import sqlite3
        store = sqlite3.connect("store/lecturekit.db")
        store.execute("UPDATE migration SET sha256 = substr(sha256, 2) || '0'")
        store.commit()
        X
        fails migration_changed --store "$PWD/store" list
        """#,
        "name_taken": #"""
        film a.mp4
        mkdir site/b
        cp site/a.mp4 site/b/a.mp4
        printf '{"url":"%s","title":"one"}\n' "$url/a.mp4" >list.jsonl
        printf '{"url":"%s","title":"two"}\n' "$url/b/a.mp4" >>list.jsonl
        fails name_taken precache list.jsonl --output-dir "$PWD/out"
        works precache list.jsonl --output-dir "$PWD/out" --name '{title}.{ext}'
        """#,
        "not_media": #"""
        echo 'Please sign in' >site/a.mp4
        fails not_media precache "$url/a.mp4"
        works precache --accept-any "$url/a.mp4"
        """#,
        "open_store": #"""
        touch file
        fails open_store --store "$PWD/file" list
        works --store "$PWD/store" list
        """#,
        "output_refused": #"""
        film a.mp4
        fails output_refused precache --output missing/a.mp4 "$url/a.mp4"
        works precache --output a.mp4 "$url/a.mp4"
        """#,
        "parameter": #"""
        fails parameter list --sort nonsense
        works list --sort title
        """#,
        "playlist_unsupported": #"""
        printf '<SmoothStreamingMedia MajorVersion="2"/>' >site/a.ism
        film a.mp4
        fails playlist_unsupported precache "$url/a.ism"
        works precache "$url/a.mp4"
        """#,
        "prune_refused": #"""
        film a.mp4
        film b.mp4
        printf '%s\n' "$url/a.mp4" "$url/b.mp4" >list.txt
        works precache list.txt
        printf '%s\n' "$url/a.mp4" >list.txt
        fails prune_refused precache list.txt --prune --max-delete 10%
        works precache list.txt --prune --max-delete 50%
        """#,
        "retention_unseen": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        echo '{"retention": {"rules": ["keep 300d after download"]}}' >config.json
        fails retention_unseen prune --config config.json
        works prune --dry-run --config config.json
        works prune --yes --config config.json
        works prune --config config.json
        """#,
        "retention_refused": #"""
        film a.mp4
        film b.mp4
        works precache --key a "$url/a.mp4"
        works precache --key b "$url/b.mp4"
        python3 - <<X
        import sqlite3
        store = sqlite3.connect("$HOME/.local/share/lecturekit/lecturekit.db")
        store.execute("UPDATE content SET completed_ms = completed_ms - 5000")
        store.commit()
        X
        fails retention_refused prune --rule 'keep 1s after download' --max-delete 1
        works prune --dry-run --rule 'keep 1s after download'
        works prune --rule 'keep 1s after download' --max-delete 2
        """#,
        "bundle_damaged": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        works bundle create b.tar --for own.jwk
        cp b.tar good.tar
        printf x | dd of=b.tar bs=1 seek=1600 conv=notrunc status=none
        fails bundle_damaged bundle verify b.tar
        cp good.tar b.tar
        works bundle verify b.tar
        works bundle import b.tar
        """#,
        "bundle_not_for_device": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        works bundle create b.tar --for other.jwk
        fails bundle_not_for_device bundle import b.tar
        works bundle create --force b.tar --for own.jwk
        works bundle import b.tar
        """#,
        "bundle_recipient": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        fails bundle_recipient bundle create b.tar
        works bundle create b.tar --for other.jwk
        """#,
        "bundle_refused": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        tar cf b.tar own.jwk
        fails bundle_refused bundle import b.tar
        works bundle create --force b.tar --for own.jwk
        works bundle import b.tar
        """#,
        "bundle_signature": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        works bundle create b.tar --for own.jwk
        cp b.tar good.tar
        offset=$(grep -abo manifest.jws b.tar | head -n 1 | cut -d : -f 1)
        length=$(tar tvf b.tar | awk '/manifest.jws/ { print $3 }')
        start=$(( (offset / 512 + 1) * 512 + length - 40 ))
        printf AAAAAAAA | dd of=b.tar bs=1 seek=$start conv=notrunc status=none
        fails bundle_signature bundle import b.tar
        works bundle import good.tar
        """#,
        "bundle_unsuitable": #"""
        film b.mp4
        works precache --key b "$url/b.mp4"
        works device show --json
        "$lecturectl" device show --json >own.jwk
        rm home/.local/share/lecturekit/lecturekit.db*
        works store rebuild
        fails bundle_unsuitable bundle create b.tar --for own.jwk kept-1
        film a.mp4 70000
        works precache --key a "$url/a.mp4"
        works bundle create b.tar --for own.jwk a
        """#,
        "bundle_untrusted": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        other() { LECTURE_STORE=$place/other LECTURE_DEVICE=$place/device "$lecturectl" "$@"; }
        other device show --json >other.jwk
        "$lecturectl" device show --json >own.jwk
        works bundle create b.tar --for other.jwk
        if other bundle import b.tar 2>answer; then exit 1; fi
        grep -q -e "$("$lecturectl" device show | awk '/player id/ { print $3 }').*'--trust'" answer
        other bundle import b.tar --trust own.jwk
        """#,
        "not_in_time": #"""
        film a.mp4
        echo "{\"url\": \"$url/a.mp4\", \"key\": \"a\", \"size\": 150000000}" >list.jsonl
        if "$lecturectl" plan --items list.jsonl --speed 1K --ready-by 'tomorrow 08:00' >answer; then exit 1; fi
        grep -q '^In the way: ' answer
        works plan --items list.jsonl --speed 100M --ready-by 'tomorrow 08:00'
        """#,
        "unknown_course": #"""
        film a.mp4
        echo "{\"url\": \"$url/a.mp4\", \"key\": \"a\", \"course\": \"Algebra\"}" >list.jsonl
        works precache list.jsonl
        fails unknown_course plan --course algebra
        course=$("$lecturectl" list --json | sed -nE 's/.*"course":"([^"]*)".*/\1/p')
        works plan --course "$course"
        """#,
        "webhook_secret": #"""
        \#(webhook)
        webhook 204
        echo password >secret
        fails webhook_secret webhooks test
        echo "whsec_$(head -c 32 /dev/urandom | base64)" >secret
        works webhooks test
        """#,
        "webhook_gone": #"""
        \#(webhook)
        webhook 410
        film a.mp4
        works precache --key a "$url/a.mp4"
        fails webhook_gone webhooks send
        fails webhook_gone webhooks send
        answer 204
        works webhooks retry
        works webhooks send
        """#,
        "webhook_unknown": #"""
        \#(webhook)
        webhook 204
        film a.mp4
        works precache --key a "$url/a.mp4"
        fails webhook_unknown webhooks send --endpoint 7
        works webhooks list
        works webhooks send --endpoint 1
        """#,
        "webhook_removed": #"""
        \#(webhook)
        webhook 204
        film a.mp4
        works precache --key a "$url/a.mp4"
        cp config.json named.json
        echo '{"webhooks": []}' >config.json
        "$lecturectl" list 2>&1 | grep -q 'what waited for it was deleted'
        cp named.json config.json
        works precache
        works webhooks list
        """#,
        "player_missing": #"""
        cp \#(lecture) site/a.mp4
        works precache --key a "$url/a.mp4"
        \#(hiding("libmpv.so.2"))
        fails player_missing play --no-video a
        lecturectl=$installed
        works play --no-video --audio-output null --speed 10 a
        """#,
        "loopback_missing": #"""
        cp \#(lecture) site/a.mp4
        works precache --key a "$url/a.mp4"
        \#(hiding("libmicrohttpd.so.12"))
        fails loopback_missing play a --with 'curl -q -s -o /dev/null'
        lecturectl=$installed
        works play a --with 'curl -q -s -o /dev/null'
        """#,
        "loopback_failed": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        fails loopback_failed play a --with 'curl -q -s -o /dev/null' --port "${url##*:}"
        works play a --with 'curl -q -s -o /dev/null' --port 0
        """#,
        "player_program_missing": #"""
        film a.mp4
        works precache --key a "$url/a.mp4"
        fails player_program_missing play a --with no-such-player
        works play a --with "$(command -v curl) -q -s -o /dev/null"
        """#,
        "quota": #"""
        film a.mp4
        fails quota precache --quota 1K --key a "$url/a.mp4"
        works precache --quota 1M --key a "$url/a.mp4"
        """#,
        "read_file": #"""
        works lms add --id a
        works lms export --output reports.jsonl
        fails read_file lms import other.jsonl
        works lms import reports.jsonl
        """#,
        "redirect_refused": #"""
        film a.mp4
        echo 302 >site/b.mp4.status
        echo 'Location: ftp://127.0.0.1/a.mp4' >site/b.mp4.headers
        fails redirect_refused precache --key a "$url/b.mp4"
        works precache --key a "$url/a.mp4"
        """#,
        "report_conflict": #"""
        works lms add --id a --user u
        fails report_conflict lms add --id a --user v
        works lms add --id b --user v
        """#,
        "report_invalid": #"""
        echo '{"x":' >r.json
        fails report_invalid lms add --id a --json r.json
        echo '{"x":1}' >r.json
        works lms add --id a --json r.json
        """#,
        "report_line": #"""
        works lms add --id a
        works lms export --output r.jsonl
        sed 's/"a"/7/' r.jsonl >bad.jsonl
        fails report_line lms import bad.jsonl
        works lms import r.jsonl
        """#,
        "report_refused": #"""
        works lms add --id a
        echo 400 >site/lms.status
        fails report_refused lms send --target "$url/lms" --max-attempts 1
        works lms list --state dead
        rm site/lms.status
        works lms retry a
        works lms send --target "$url/lms"
        """#,
        "report_target_missing": #"""
        works lms add --id a
        fails report_target_missing lms send
        works lms send --target "$url/lms"
        """#,
        "report_target_refuses": #"""
        works lms add --id a
        echo 401 >site/lms.status
        fails report_target_refuses lms send --target "$url/lms" --max-attempts 1
        rm site/lms.status
        works lms send --target "$url/lms"
        """#,
        "report_target_waits": #"""
        works lms add --id a
        echo 503 >site/lms.status
        fails report_target_waits lms send --target "$url/lms" --max-attempts 1 --longest-wait 1s
        rm site/lms.status
        works lms list --summary
        """#,
        "resolve": #"""
        film a.mp4
        fails resolve precache --max-attempts 1 --key a http://nothing.invalid/a.mp4
        works precache --key a "$url/a.mp4"
        """#,
        "sealed": #"""
        film a.mp4
        works precache --seal --key a "$url/a.mp4"
        fails sealed path a
        works cat a
        """#,
        "sealed_elsewhere": #"""
        film a.mp4
        works precache --seal --key a "$url/a.mp4"
        export LECTURE_DEVICE=$PWD/other
        fails sealed_elsewhere cat a
        works remove a
        works precache --seal --key a "$url/a.mp4"
        works cat a
        """#,
        "secret_readable": #"""
        echo '{"network":{"credentials_file":"h.json"}}' >c.json
        echo '{}' >h.json
        chmod 644 h.json
        fails secret_readable --config c.json list
        chmod 600 h.json
        works --config c.json list
        """#,
        "store_busy": #"""
        works --store "$PWD/store" lms add --id a
        coproc HOLDER { exec python3 -uc '
        import signal, sqlite3
        store = sqlite3.connect("store/lecturekit.db", isolation_level=None)
        store.execute("BEGIN IMMEDIATE"); print("held"); signal.pause()'; }
        holder=$HOLDER_PID
        read -r _ <&"${HOLDER[0]}"
        fails store_busy --store "$PWD/store" lms add --id b
        works --store "$PWD/store" status
        kill -KILL "$holder"
        wait "$holder" || true
        works --store "$PWD/store" lms add --id b
        """#,
        "store_damaged": #"""
        works --store "$PWD/store" lms add --id a
        works --store "$PWD/store" store backup copy.db
        dd if=/dev/zero of=store/lecturekit.db bs=4096 count=8 seek=1 conv=notrunc status=none
        fails store_damaged --store "$PWD/store" list
        rm store/lecturekit.db*
        cp copy.db store/lecturekit.db
        works --store "$PWD/store" lms list
        dd if=/dev/zero of=store/lecturekit.db bs=4096 count=8 seek=1 conv=notrunc status=none
        mkdir store/media
        mv store/lecturekit.db damaged.db
        works --store "$PWD/store" store rebuild
        """#,
        "source_unknown": #"""
        film a.mp4 3000000
        works --store "$PWD/store" precache --key a "$url/a.mp4"
        rm store/lecturekit.db*
        works --store "$PWD/store" store rebuild
        printf y | dd of=store/media/0000/1.mp4 bs=1 seek=9999 conv=notrunc status=none
        ends_with '1 damaged, 0 not verified' --store "$PWD/store" verify --all
        fails source_unknown --store "$PWD/store" precache
        works --store "$PWD/store" precache --key kept-1 "$url/a.mp4"
        works --store "$PWD/store" verify kept-1
        """#,
        "stream_live": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n' >site/a.m3u8
        film 1.ts
        fails stream_live precache --key a "$url/a.m3u8"
        works precache --key b --capture 6s "$url/a.m3u8"
        echo '#EXT-X-ENDLIST' >>site/a.m3u8
        works precache --key a "$url/a.m3u8"
        """#,
        "segments_missing": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXTINF:6,\n2.ts\n#EXT-X-ENDLIST\n' >site/a.m3u8
        cp site/a.m3u8 site/b.m3u8
        film 1.ts
        fails segments_missing precache --key a "$url/a.m3u8"
        fails segments_missing precache --key b "$url/b.m3u8"
        works precache --key b --allow-gaps "$url/b.m3u8"
        "$lecturectl" why b | grep -q '1 of 2 files are missing: 2.ts' || { echo "why does not name it"; exit 1; }
        film 2.ts
        works precache --key a "$url/a.m3u8"
        """#,
        "capture_gaps": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n' >site/a.m3u8
        film 1.ts
        film 4.ts
        "$lecturectl" precache --key a --capture "$url/a.m3u8" 2>log &
        until "$lecturectl" list --json | grep -q '"chunks_proven":2'; do
            kill -0 $! || { echo "it ended"; exit 1; }
        done
        kill -INT $! && wait $! && { echo "it was complete"; exit 1; }
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:3\n' >site/a.m3u8
        printf '#EXTINF:1,\n4.ts\n#EXT-X-ENDLIST\n' >>site/a.m3u8
        fails capture_gaps precache --key a --capture "$url/a.m3u8"
        works precache --key a --capture --allow-gaps "$url/a.m3u8"
        "$lecturectl" why a | grep -q '1 gap of 2 segments: 0:00:01–0:00:03' || { echo "why does not name it"; exit 1; }
        """#,
        "capture_stalled": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n' >site/a.m3u8
        cp site/a.m3u8 site/b.m3u8
        film 1.ts
        film 2.ts
        fails capture_stalled precache --key a --capture "$url/a.m3u8"
        works precache --key a --allow-gaps "$url/a.m3u8"
        fails capture_stalled precache --key b --capture "$url/b.m3u8"
        printf '#EXTINF:1,\n2.ts\n#EXT-X-ENDLIST\n' >>site/b.m3u8
        works precache --key b --capture "$url/b.m3u8"
        """#,
        "capture_full": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n' >site/a.m3u8
        seq -f '#EXT-X-GAP\n#EXTINF:1,\n%g.ts' 2 50001 | sed 's/\\n/\n/g' >>site/a.m3u8
        film 1.ts
        fails capture_full precache --key a --capture "$url/a.m3u8"
        works precache --key a --allow-gaps "$url/a.m3u8"
        works precache --key b --capture 6s "$url/a.m3u8"
        """#,
        "variant_unavailable": #"""
        printf '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360\n1.m3u8\n' >site/a.m3u8
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n' >site/1.m3u8
        film 1.ts
        fails variant_unavailable precache --key a --max-height 240 "$url/a.m3u8"
        there=$("$lecturectl" precache --dry-run "$url/a.m3u8" 2>&1) # It fails as well, since 240 lines are stored.
        grep -q 'variant 1: 640x360' <<<"$there" || { echo "it does not show what there is"; exit 1; }
        works precache --key a --max-height 480 "$url/a.m3u8"
        """#,
        "many_files": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,\n1.mp4\n#EXT-X-ENDLIST\n' >site/a.m3u8
        cp \#(lecture) site/1.mp4
        works precache --key a "$url/a.m3u8"
        fails many_files cat --range 0-1 a
        works export a --output a.mkv
        works play a --no-video --audio-output null --speed 10
        """#,
        "exporter_missing": #"""
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,\n1.mp4\n#EXT-X-ENDLIST\n' >site/a.m3u8
        cp \#(lecture) site/1.mp4
        works precache --key a "$url/a.m3u8"
        installed=$lecturectl
        printf '#!/bin/sh\nPATH=/nonexistent exec %s "$@"\n' "$installed" >without; chmod +x without
        lecturectl=$PWD/without
        fails exporter_missing export a --output a.mkv
        lecturectl=$installed
        works export a --output a.mkv
        """#,
        "manifest_reader_missing": #"""
        printf '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT6S"><Period>' >site/a
        printf '<AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1">' >>site/a
        printf '<BaseURL>1.mp4</BaseURL>' >>site/a
        printf '</Representation></AdaptationSet></Period></MPD>' >>site/a
        film 1.mp4
        \#(hiding("libxml2.so.2"))
        fails manifest_reader_missing precache --key a "$url/a"
        lecturectl=$installed
        works precache --key a "$url/a"
        """#,
        "store_foreign": #"""
        mkdir store
        echo 'not a database' >store/lecturekit.db
        fails store_foreign --store "$PWD/store" list
        works --store "$PWD/other" lms add --id a
        """#,
        "store_newer": #"""
        works --store "$PWD/store" lms add --id a
        python3 - <<X
        import sqlite3
        store = sqlite3.connect("store/lecturekit.db")
        store.execute("INSERT INTO migration SELECT '9999_x', sha256, applied_ms FROM migration LIMIT 1")
        store.commit()
        X
        fails store_newer --store "$PWD/store" list
        works --store "$PWD/other" precache
        """#,
        "store_read_only": #"""
        works --store "$PWD/store" lms add --id a
        mount --bind store store
        mount -o remount,ro,bind store
        trap 'umount "$PWD/store"; kill -KILL $(jobs -p); rm -rf "$place"' EXIT
        fails store_read_only --store "$PWD/store" lms add --id b
        works --store "$PWD/other" lms add --id b
        mount -o remount,rw,bind store
        works --store "$PWD/store" lms add --id b
        """#,
        "timeout": #"""
        film a.mp4
        coproc SILENT { exec python3 -uc '
        import socket
        server = socket.create_server(("127.0.0.1", 0)); print(server.getsockname()[1]); kept = []
        while True: kept.append(server.accept())'; }
        read -r port <&"${SILENT[0]}"
        fails timeout precache --timeout 1s --max-attempts 1 --key a "http://127.0.0.1:$port/a.mp4"
        kill -KILL "$SILENT_PID"
        works precache --key a "$url/a.mp4"
        """#,
    ]
}
