import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import Testing

/// Walks through the catalogue of errors: doing what a message says ends the error, or its text says who can.
@Suite(.timeLimit(.minutes(3))) struct RemedyWalkTests {
    /// Where the remedy of an error is not executed by a script.
    enum Elsewhere {
        /// The operator of a server, or a developer, has to act; the text says what to report.
        case report
        /// The provider or the issuer has to act.
        case ask
        /// The program retries, or the text asks to wait.
        case automatic
        /// Another test brings it about and ends it, through the program or the library.
        case test(String)
        /// It cannot be brought about here, for this reason.
        case environment(String)
    }

    @Test(arguments: RemedyScripts.all.keys.sorted())
    func `doing what the message says ends the error`(name: String) throws {
        let needsRoot = ["store_read_only", "player_missing", "loopback_missing"]
        if needsRoot.contains(name), geteuid() != 0 { return }
        let script = try #require(RemedyScripts.all[name])
        let result = try BuiltProgram.shell("\(Self.prelude)\n\(script)")
        #expect(result.status == 0, "\(name): \(result.outputText) \(result.diagnosticsText)")
    }

    @Test(arguments: CatalogueTests.codes)
    func `every error has a remedy that is tried, or says who can act`(code: LectureError.Code) throws {
        if RemedyScripts.all[code.name] != nil { return }
        let elsewhere = try #require(Self.elsewhere(code), "\(code.name): neither a script nor a reason")
        let remedy = code.remedy
        switch elsewhere {
        case .report: #expect(remedy.contains("eport this"), "\(code.name): \(remedy)")
        case .ask: #expect(remedy.contains("Ask the") || remedy.contains("ask the"), "\(code.name): \(remedy)")
        case .automatic:
            let words = ["automatically", "again when", "Wait", "wait"]
            #expect(remedy.isEmpty || words.contains { remedy.contains($0) }, "\(code.name): \(remedy)")
        case .test(let test): #expect(Self.tests.contains(test), "\(code.name): there is no test `\(test)`")
        case .environment(let reason): #expect(!reason.isEmpty)
        }
    }

    @Test func `every script is of an error that exists`() {
        let names = Set(CatalogueTests.codes.map(\.name) + LectureError.Code.all.map(\.name))
        let others = Set(
            RemedyScripts.all.keys.filter { !$0.hasPrefix("http_") && !["connect", "resolve", "timeout"].contains($0) })
        #expect(others.subtracting(names) == ["empty_answer"])
    }

    /// The names of all tests, as the sources have them.
    private static let tests: Set<String> = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var names: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", let text = try? String(contentsOf: file, encoding: .utf8) else {
                continue
            }
            for match in text.matches(of: /func `([^`]+)`/) { names.insert(String(match.1)) }
            for part in text.components(separatedBy: "@Test(\"").dropFirst() {
                names.insert(String(part.prefix { $0 != "\"" }))
            }
        }
        return names
    }()

    /// A site that serves the directory `site`, and the words of the scripts: `fails NAME COMMAND…`, `ends_with
    /// SENTENCE COMMAND…`, `works COMMAND…`, and `film NAME [BYTES]`, which puts a lecture on the site. A file
    /// `NAME.status` sets the status of a response, `NAME.needs` the header field `X-Pass` that it needs, and
    /// `NAME.headers` more header fields.
    static let prelude = #"""
        set -uo pipefail
        lecturectl=$0
        place=$(mktemp -d); cd "$place"; mkdir site home
        export HOME=$place/home LECTURE_RESERVE=1M
        unset XDG_DATA_HOME XDG_CONFIG_HOME LECTURE_STORE LECTURE_DEVICE LECTURE_CONFIG
        cat >site.py <<'PYTHON'
        import http.server, os, threading
        class Site(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def words(self, suffix):
                try:
                    with open("site" + self.path + suffix) as file: return file.read().splitlines()
                except OSError: return []
            def respond(self, body, type):
                status = self.words(".status")
                needs = self.words(".needs")
                if needs and self.headers.get("X-Pass") != needs[0]: status = ["401"]
                if body is None and not status: status = ["404"]
                body = b"" if status and status[0] != "200" else body
                self.send_response(int(status[0]) if status else 200)
                self.send_header("Content-Type", type)
                for line in self.words(".headers"): self.send_header(*line.split(": ", 1))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)
            def do_GET(self):
                # A list of bookmarks is asked for with a query; elsewhere a query is part of a file's name.
                if self.path.startswith("/bookmarks?"): self.path = "/bookmarks"
                path = "site" + self.path
                self.respond(open(path, "rb").read() if os.path.isfile(path) else None, "video/mp4")
            do_HEAD = do_GET
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.respond(b'{"ok": true}', "application/json")
            def log_message(self, *_): pass
        threading.Timer(120, lambda: os._exit(1)).start()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        print(server.server_port, flush=True)
        server.serve_forever()
        PYTHON
        coproc SITE { exec python3 site.py 2>/dev/null; }
        site=$SITE_PID
        read -r port <&"${SITE[0]}"
        url=http://127.0.0.1:$port
        # All that still runs: a script that fails leaves nothing behind.
        trap 'kill -KILL $(jobs -p); rm -rf "$place"' EXIT
        fails() {
            local name=$1 out; shift
            if out=$("$lecturectl" --json "$@" 2>&1 </dev/null | tr -d '\0'); then
                echo "did not fail: $* $out"; exit 1
            fi
            grep -qF "\"name\":\"$name\"" <<<"$out" || { echo "no $name: $* $out"; exit 1; }
        }
        ends_with() {
            local sentence=$1 out; shift
            if out=$("$lecturectl" "$@" 2>&1 </dev/null); then echo "did not fail: $* $out"; exit 1; fi
            grep -qF "$sentence" <<<"$out" || { echo "no '$sentence': $* $out"; exit 1; }
        }
        works() {
            local out
            out=$("$lecturectl" "$@" 2>&1 </dev/null | tr -d '\0') || { echo "failed: $* $out"; exit 1; }
        }
        film() { { printf '\0\0\0\030ftypmp42'; head -c "${2:-100000}" /dev/zero | tr '\0' x; } >"site/$1"; }
        """#
}

extension RemedyWalkTests {
    /// Who can act, or which test tries the remedy, by the name of the error; nil when nothing is said.
    static func elsewhere(_ code: LectureError.Code) -> Elsewhere? {
        if let elsewhere = listed[code.name] { return elsewhere }
        let remedy = code.remedy
        if remedy.contains("eport this to") || remedy == "Report this as a bug." { return .report }
        if remedy.hasPrefix("Ask the") { return .ask }
        if remedy.contains("automatically") { return .automatic }
        return nil
    }

    private static let listed: [String: Elsewhere] = [
        "already_downloaded": .automatic,
        "already_downloading": .automatic,
        "http_429": .automatic,
        "http_503": .automatic,
        "lease_lost": .automatic,
        "licence_not_yet_valid": .automatic,
        "answer_undecodable": .report,
        "application_date_differs": .test("Preparation opens the storage and sets the player"),
        "application_incomplete": .test("A program without a bundle id looks it up in the documented order"),
        "application_key_refused": .test("Preparation opens the storage and sets the player"),
        "application_other_bundle": .test("Preparation opens the storage and sets the player"),
        "body_cut": .automatic,
        "bookmark_of_teacher": .test("what cannot be removed or stored is refused with its code"),
        "player_not_permitted": .test("rules and watermarks of a gateway exclude other players"),
        "bundle_newer": .test("a manifest of a later version says so"),
        "access_missing": .test("without an access file it names what makes one, and that works"),
        "address_exposed": .test("another address is served with TLS, and sessions are for TLS only"),
        "tls_incomplete": .test("another address is served with TLS, and sessions are for TLS only"),
        "peer_tokens": .test("a server that is not there is named, and the next one is asked"),
        "peer_unusable": .test("a token with another role is named, and one with the right role works"),
        "cancelled": .test("a cancelled download is continued by resume and precache"),
        "clock_untrusted": .test("a licence file issued since ends a doubt, and an older one does not"),
        "closing": .test("after close nothing can be started"),
        "cryptography": .environment("OpenSSL would have to fail"),
        "damaged": .test("damage is repaired by verify --all --repair"),
        "play_callback_connect": .automatic,
        "duplicate_check_failed": .test(
            "a duplicate check that is impossible prevents a play, and ends one after the third time"),
        "duplicate_play": .test("a learner plays on one device at a time"),
        "virtual_machine": .test("a real machine may play what virtual ones may not"),
        "header_reserved": .test("a header of the transfer itself is refused in options, files and lists"),
        "header_invalid": .test("headers from a file are sent, and stored sealed"),
        "json": .test("a mistyped member of a report batch refuses its line and stores nothing of it"),
        "learner_left": .test("reports of others that name the learner are listed"),
        "ledger_forged": .test("after a restore a renewal reports no effect, and a new grant helps"),
        "length_changed": .test("a file whose length differs from its description is refused"),
        "licence_check_due": .test("checks are requested when they are due, and decide"),
        "licence_missing": .test("an ungranted lecture is never written to disk, and is once granted"),
        "licence_unverified": .environment("every licence that this version stores is verified"),
        "licence_expired": .test("an expiry holds, and only the session key that was sent revives a licence"),
        "link_fetches_nothing": .test("a kollus link is distinguished by its action"),
        "media_missing": .test("a missing file is downloaded again by precache"),
        "name_refused": .test("A path that leads outside is refused everywhere"),
        "export_failed": .test("an export that cannot be made leaves nothing"),
        "player_failed": .environment("libmpv would have to refuse what it documents"),
        "not_complete": .test("incomplete lectures are completed by precache"),
        "not_loaded": .test("a key that was not loaded cannot be downloaded"),
        "not_removable": .test("Deletion removes one lecture, then the others, and never a sample"),
        "report_answer_unexpected": .test(
            "a refused report is a dead letter with its reason, and is resent on request"),
        "reports_under_way": .test("a request with an unknown outcome blocks an erasure until it is dissolved"),
        "webhook_refused": .test(
            "Ten refusals make an event dead, and it is sent again when a person asks for it"),
        "resume_unsafe": .test("without validators and digest an interrupted download starts over"),
        "seal_required": .test("a licensed lecture is refused with --no-seal, and downloaded without it"),
        "licence_other_key": .test("a key put back after the grant of another server permits no play"),
        "rekey_refused": .test("licences take a new key that the old one names, and then only that one"),
        "storage_full": .test("a full disk is resolved by free space and another run"),
        "anchor_unwritable": .test("a play that cannot be recorded is refused, named before, and not lost"),
        "store_copied": .test("a store taken over by another device plays after import and regrant"),
        "store_failed": .environment("SQLite would have to refuse a change that the schema permits"),
        "store_missing": .test("a missing store is created by precache"),
        "output_exists": .test("an existing file is kept, and nothing is downloaded for it"),
        "store_exposed": .test("a store directory that others may write is refused and untouched"),
        "store_owner": .test("members of the group that a store is shared with use it as its owner does"),
        "store_rolled_back": .test("after a restore a renewal reports no effect, and a new grant helps"),
        "store_unsafe": .environment("a file system without locks would have to be there"),
        "tls": .test("an unknown authority is refused until --ca-file names it"),
        "transfer_7": .automatic,
        "trust_not_configured": .test("a file of an unknown issuer is stored once the configuration names its key"),
        "unknown_content": .test("an unknown key is resolved by one that list shows"),
        "url_invalid": .test("load registers the source and fetches nothing"),
        "url_scheme": .test("load registers the source and fetches nothing"),
        "version_unstable": .test("a server that hides its version is detected"),
        "worker_failed": .test("an invalid program is reported before anything is started"),
        "worker_missing": .test("an invalid program is reported before anything is started"),
        "write_file": .test("A read-only disk refuses new files and serves existing ones"),
    ]
}
