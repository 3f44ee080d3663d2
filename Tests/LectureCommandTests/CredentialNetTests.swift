import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Credentials come from files, are sent only to their own server, and are stored nowhere in clear.
@Suite(.timeLimit(.minutes(3))) struct CredentialNetTests {
    private static let secret = "Bearer geheim-4711"

    /// An account, and a server that sends a file of 1 MiB to authorised clients.
    private struct Scene {
        let me: BadDay
        let nginx: NginxOrigin
        var url: String { "\(nginx.http)/a.mp4" }

        init(_ directives: String, rate: Int? = nil) async throws {
            me = try BadDay()
            try me.home.write(MediaBeginning.replacing([UInt8](repeating: 7, count: 1 << 20)), to: "site/a.mp4")
            var options = NginxOrigin.Options()
            options.directives = directives
            options.bytesPerSecond = rate
            nginx = try await NginxOrigin.start(serving: me.home.file("site"), options)
        }

        func secretFile(_ name: String, _ text: String, mode: Int = 0o600) throws {
            let path = try me.home.write(text, to: name)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }

        /// All bytes of the store's database.
        func database() throws -> Data {
            try ["lecturekit.db", "lecturekit.db-wal"].reduce(into: Data()) { all, name in
                let path = "\(me.store)/\(name)"
                if FileManager.default.fileExists(atPath: path) { all += try Data(contentsOf: URL(filePath: path)) }
            }
        }

        /// Runs a statement with an independent program.
        func sql(_ text: String) async throws -> String {
            let script = """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1])
                print(c.execute(sys.argv[2]).fetchall())
                c.commit()
                """
            return try await ChildProcess.run(
                "/usr/bin/python3", ["-c", script, "\(me.store)/lecturekit.db", text]
            ).text
        }
    }

    private static func guarded(rate: Int? = nil) async throws -> Scene {
        try await Scene("if ($http_authorization != \"\(secret)\") { return 401; }", rate: rate)
    }

    @Test func `headers from a file are sent, and stored sealed`() async throws {
        let scene = try await Self.guarded(rate: 200_000)
        try scene.secretFile("headers", "# for the origin\n\nAuthorization: \(Self.secret)\r\nX-Class: 7b\n")
        #expect(try await scene.me("precache", scene.url).status == 1)
        let cut = try await scene.me(
            "precache", "--connections", "1", scene.url, "--header", "@headers", "--deadline", "1s")
        #expect(cut.status == 75)
        let stored = try scene.database()
        #expect(stored.range(of: Data("geheim".utf8)) == nil)
        #expect(stored.range(of: Data("Authorization".utf8)) != nil, "the field is stored, its value sealed")
        let ending = try await scene.me("precache", "--json", "-v", scene.url)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(!(ending.text + ending.errorText).contains("geheim"))
        #expect(try scene.database().range(of: Data("geheim".utf8)) == nil)
        #expect(try await scene.sql("SELECT headers FROM content") == "[('{}',)]\n")
        await scene.nginx.stop()
    }

    @Test func `a header from the command line is stored sealed as well`() async throws {
        let scene = try await Self.guarded()
        #expect(try await scene.me("precache", scene.url, "-H", "Authorization: \(Self.secret)").status == 0)
        #expect(try scene.database().range(of: Data("geheim".utf8)) == nil)
        await scene.nginx.stop()
    }

    @Test func `a header file that others may read, or without a header, is refused without its text`() async throws {
        let scene = try await Self.guarded()
        try scene.secretFile("open", "Authorization: \(Self.secret)\n", mode: 0o644)
        let open = try await scene.me("precache", scene.url, "--header", "@open")
        #expect(open.status == 78)
        #expect(open.errorText.contains("open"))
        try scene.secretFile("broken", "X-A: 1\ngeheim-4711\n")
        let broken = try await scene.me("precache", scene.url, "--header", "@broken")
        #expect(broken.status == 64)
        #expect(broken.errorText.contains("broken, line 2"))
        #expect(!broken.errorText.contains("geheim"))
        #expect(try await scene.me("precache", scene.url, "--header", "@missing").status == 74)
        await scene.nginx.stop()
    }

    @Test func `an interrupted download resumes with its sealed header, but not on another device`() async throws {
        let scene = try await Self.guarded(rate: 200_000)
        try scene.secretFile("headers", "Authorization: \(Self.secret)")
        let first = try await scene.me(
            "precache", scene.url, "--key", "a", "--connections", "1", "--header", "@headers", "--deadline", "1s")
        #expect(first.status == 75, "\(first.errorText)")
        let device = scene.me.home.file(".local/share/lecturekit-device")
        try FileManager.default.moveItem(atPath: device, toPath: scene.me.home.file("kept"))
        let foreign = try await scene.me("precache")
        #expect(foreign.status == 1)
        #expect(foreign.errorText.contains("cannot be opened with this device's key"), "\(foreign.errorText)")
        try? FileManager.default.removeItem(atPath: device)
        try FileManager.default.moveItem(atPath: scene.me.home.file("kept"), toPath: device)
        #expect(try await scene.me("resume", "a").status == 0)
        let again = try await scene.me("precache")
        #expect(again.status == 0, "\(again.errorText)")
        #expect(try await scene.me.list().first?.state == "completed")
        await scene.nginx.stop()
    }

    @Test func `a device without the key gets a message with the remedy`() async throws {
        let scene = try await Self.guarded(rate: 200_000)
        try scene.secretFile("headers", "Authorization: \(Self.secret)")
        let words = ["precache", scene.url, "--connections", "1", "--header", "@headers"]
        #expect(try await scene.me.run(words + ["--deadline", "1s"]).status == 75)
        try FileManager.default.removeItem(atPath: scene.me.home.file(".local/share/lecturekit-device"))
        #expect(try await scene.me("precache").status == 1)
        let again = try await scene.me.run(words)
        #expect(again.status == 0, "\(again.errorText)")
        await scene.nginx.stop()
    }

    @Test func `a header that an earlier version stored in clear still works, and is gone with the download`()
        async throws
    {
        let scene = try await Self.guarded(rate: 200_000)
        let first = try await scene.me(
            "precache", scene.url, "--connections", "1", "-H", "Authorization: \(Self.secret)", "--deadline", "1s")
        #expect(first.status == 75)
        _ = try await scene.sql("UPDATE content SET headers = '{\"Authorization\":\"\(Self.secret)\"}'")
        #expect(try await scene.sql("SELECT headers FROM content").contains("geheim"))
        // Requested again without the header: the stored header is used.
        let second = try await scene.me("precache", scene.url)
        #expect(second.status == 0, "\(second.errorText)")
        #expect(try await scene.sql("SELECT headers FROM content") == "[('{}',)]\n")
        #expect(try scene.database().range(of: Data("geheim".utf8)) == nil)
        await scene.nginx.stop()
    }

    @Test func `credentials of a server go only to it, also across redirects`() async throws {
        let scene = try await Self.guarded()
        let other = try await Scene("if ($http_authorization) { return 403; }")
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try scene.secretFile(
            "servers.json",
            """
            {"\(scene.nginx.http)": {"headers": {"Authorization": "\(Self.secret)"}},
             "\(sandbox.http)/": {"headers": {"Authorization": "Bearer other"}}}
            """)
        let words = ["precache", "--credentials-file", "servers.json"]
        let direct = try await scene.me.run(words + [scene.url])
        #expect(direct.status == 0, "\(direct.errorText)")
        let redirected = "\(sandbox.http)/media/bytes-1M-3.mp4?fault=redirect-to:\(other.url)"
        let ending = try await scene.me.run(words + ["--json", redirected])
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try scene.database().range(of: Data("geheim".utf8)) == nil)
        try scene.secretFile("config.json", #"{"network":{"credentials_file":"servers.json"}}"#)
        #expect(try await scene.me("remove", "--all").status == 0)
        #expect(try await scene.me("--config", "config.json", "precache", scene.url).status == 0)
        await scene.nginx.stop()
        await other.nginx.stop()
    }

    @Test(arguments: [
        (#"{"https://h/path":{"headers":{}}}"#, "each name must be a server"),
        (#"{"https://u:p@h":{"headers":{}}}"#, "each name must be a server"),
        (
            #"{"https://h":{"haeders":{"A":"geheim"}}}"#,
            "unknown member 'haeders' of https://h (did you mean 'headers'?)"
        ),
        (#"{"https://h":{"headers":{"A":1}}}"#, "is not a text"),
        (#"{"https://h":{"headers":{"A b":"geheim"}}}"#, "refused character"),
        (#"{"https://h":{"headers":{}},"https://h:443/":{"headers":{}}}"#, "twice"), ("[]", "not an object"),
    ])
    func `an unusable credentials file is refused without its secrets`(text: String, cause: String)
        async throws
    {
        let me = try BadDay()
        let path = try me.home.write(text, to: "servers.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let ending = try await me("precache", "--credentials-file", "servers.json", "http://127.0.0.1:9/a.mp4")
        #expect(ending.status == 78)
        #expect(ending.errorText.contains(cause), "\(ending.errorText)")
        #expect(!ending.errorText.contains("geheim"))
    }

    @Test func `users and passwords come from netrc, and its default entry is not used`() async throws {
        let users = try TemporaryDirectory()
        let file = try users.write("learner:{PLAIN}geheim\n", to: "users")
        let scene = try await Scene("auth_basic \"lectures\"; auth_basic_user_file \(file);")
        try scene.secretFile(".netrc", "default login learner password geheim\n")
        #expect(try await scene.me("precache", scene.url, "--netrc").status == 1)
        try scene.secretFile(
            ".netrc", "# course\nmacdef init\ncd /pub\n\nmachine 127.0.0.1\n  login learner password geheim\n")
        let ending = try await scene.me("precache", scene.url, "--netrc")
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await scene.me("remove", "--all").status == 0)
        try scene.secretFile("mine", "machine 127.0.0.1 login learner password wrong")
        #expect(try await scene.me("precache", scene.url, "--netrc-file", "mine").status == 1)
        try scene.secretFile("mine", "machine 127.0.0.1 login learner password geheim", mode: 0o640)
        #expect(try await scene.me("precache", scene.url, "--netrc-file", "mine").status == 78)
        try scene.secretFile("mine", "machien 127.0.0.1 login learner password geheim")
        let broken = try await scene.me("precache", scene.url, "--netrc-file", "mine")
        #expect(broken.status == 78 && !broken.errorText.contains("geheim"))
        await scene.nginx.stop()
    }

    @Test func `a server that asks for a client certificate gets it`() async throws {
        let me = try BadDay()
        let keys = try BuiltProgram.shell(
            """
            cd \(me.home.path) && for n in learner other; do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $n.key -out $n.pem \
                -days 30 -subj /CN=$n 2>&1 || exit 1; done; chmod 600 *.key; cat learner.pem learner.key > both.pem
            chmod 600 both.pem
            """)
        #expect(keys.status == 0, "\(keys.outputText)")
        try me.home.write(MediaBeginning.replacing([UInt8](repeating: 7, count: 1 << 20)), to: "site/a.mp4")
        var options = NginxOrigin.Options()
        options.servesHTTPS = true
        options.serverDirectives = "ssl_verify_client on; ssl_client_certificate \(me.home.file("learner.pem"));"
        let nginx = try await NginxOrigin.start(serving: me.home.file("site"), options)
        let words = ["precache", "\(nginx.https)/a.mp4", "--ca-file", nginx.authorityFile, "--max-attempts", "1"]
        #expect(try await me.run(words).status != 0)
        #expect(try await me.run(words + ["--client-cert", "other.pem", "--client-key", "other.key"]).status != 0)
        let ending = try await me.run(words + ["--client-cert", "learner.pem", "--client-key", "learner.key"])
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await me("remove", "--all").status == 0)
        let joined = try await me.run(words + ["--client-cert", "both.pem"])
        #expect(joined.status == 0, "\(joined.errorText)")
        _ = try BuiltProgram.shell("chmod 644 \(me.home.file("learner.key"))")
        let open = try await me.run(words + ["--client-cert", "learner.pem", "--client-key", "learner.key"])
        #expect(open.status == 78 && open.errorText.contains("learner.key"), "\(open.errorText)")
        #expect(try await me.run(words + ["--client-key", "learner.key"]).status == 64)
        await nginx.stop()
    }
}
