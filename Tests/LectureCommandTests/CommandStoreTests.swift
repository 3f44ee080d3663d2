import Foundation
import LectureCommand
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A store in a directory of its own, a sandbox that serves lectures, and commands run in this process.
private struct Bench {
    let scratch: ScratchDirectory
    let sandbox: SandboxOrigin

    init() async throws {
        scratch = try ScratchDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"])
    }

    var store: String { scratch.url.appending(path: "store").path }

    func path(_ name: String) -> String { scratch.url.appending(path: name).path }

    func url(_ name: String) -> String { "\(sandbox.http)/media/\(name)" }

    /// Runs a command line on this store.
    func callAsFunction(_ words: String..., now: Timestamp? = nil) async -> Outcome {
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let environment = ["HOME": scratch.url.path, "LECTURE_STORE": store]
        let context = context(words, environment: environment, output: output, diagnostics: diagnostics)
        let status = await CommandRunner(actions: CommandActions.all).run(context)
        return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
    }

    /// The keys in the store, in order.
    func keys(_ options: String...) async -> [String] {
        var keys: [String] = []
        for line in await self("list", "--json").output.split(separator: "\n") {
            let value = try? JSONScanner.value(of: String(line))
            if let key = value?["key"]?.string { keys.append(key) }
        }
        return keys
    }
}

/// Every line must match its schema.
private func expectSchemas(_ output: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    for line in output.split(separator: "\n") {
        let faults = try JSONSchema(describing: String(line)).faults(in: Data(line.utf8))
        #expect(faults.isEmpty, "\(line): \(faults)", sourceLocation: sourceLocation)
    }
}

@Suite struct PrecacheNetTests {
    @Test func `a file is fetched once, written to the output, and skipped the next time`() async throws {
        let bench = try await Bench()
        let source = bench.url("bytes-3M-1.mp4")
        let digest = try await bench.sandbox.sha256(of: "/media/bytes-3M-1.mp4")
        let out = bench.path("a.mp4")
        let first = await bench(
            "precache", source, "--key", "one", "--title", "선형대수", "--sha256", digest, "--output", out, "--json")
        #expect(first.status == .done, "\(first.diagnostics)")
        try expectSchemas(first.output)
        #expect(first.output.contains(#"{"event":"completed","key":"one","title":"선형대수""#))
        #expect(
            first.output.split(separator: "\n").last?.hasPrefix(#"{"event":"summary","completed":1,"failed":0"#)
                ?? false)
        #expect(try Data(contentsOf: URL(filePath: out)).count == 3 << 20)
        let second = await bench("precache", source, "--key", "one", "--json", "--acks")
        #expect(second.status == .done)
        #expect(second.output.contains(#"{"event":"skipped","key":"one"}"#))
        #expect(second.output.contains("\nACK one\n"))
        #expect(second.output.contains(#""skipped":1,"bytes_fetched":0"#))
    }

    @Test func `a course list goes into a directory, and a broken line does not stop the others`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write(
            "course.jsonl",
            """
            {"url":"\(bench.url("bytes-64K-1.mp4"))","key":"a","file":"first.mp4"}
            {"url":"\(bench.url("bytes-64K-2.mp4"))","key":"b"}
            {"url":
            """)
        let outcome = await bench("precache", list, "--output-dir", bench.path("out"), "--folder", "algebra")
        #expect(outcome.status == .data)
        #expect(outcome.diagnostics.contains("line 3"))
        let files = try FileManager.default.contentsOfDirectory(atPath: bench.path("out"))
        #expect(Set(files) == ["first.mp4", "bytes-64K-2.mp4"])
        #expect(await bench("list", "--folder", "algebra").output.split(separator: "\n").count == 2)
        #expect(await bench("list", "--folder", "geometry").output.isEmpty)
    }

    @Test func `two lectures of one output name do not replace each other`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write(
            "c.jsonl",
            """
            {"url":"\(bench.url("bytes-64K-1.mp4"))","file":"x.mp4"}
            {"url":"\(bench.url("bytes-64K-2.mp4"))","file":"x.mp4"}
            """)
        let outcome = await bench("precache", list, "--output-dir", bench.path("out"))
        #expect(outcome.status == .data)
        #expect(outcome.diagnostics.contains("several lectures of this run have the same file name"))
        #expect(await bench.keys().isEmpty)
    }

    @Test func `a missing file fails alone and is named`() async throws {
        let bench = try await Bench()
        let outcome = await bench("precache", bench.url("none.mp4"), bench.url("bytes-64K-1.mp4"), "--json")
        #expect(outcome.status == .someFailed)
        try expectSchemas(outcome.output)
        #expect(outcome.output.contains(#""name":"http_404""#))
        #expect(outcome.diagnostics.contains("the server answered HTTP 404"))
        #expect(outcome.output.contains(#""completed":1,"failed":1"#))
    }

    @Test func `an unreachable server ends with 69 or 75, never with 0`() async throws {
        let bench = try await Bench()
        let outcome = await bench("precache", "http://127.0.0.1:1/a.mp4", "--retries", "0", "--json")
        #expect([69, 75].contains(outcome.status.code))
        try expectSchemas(outcome.output)
    }

    @Test func `a dry run names what it would do and creates no store`() async throws {
        let bench = try await Bench()
        let outcome = await bench("precache", "https://u:p@h.example/a.mp4?token=1", "--dry-run", "--json")
        #expect(outcome.status == .done)
        try expectSchemas(outcome.output)
        #expect(!outcome.output.contains("token") && !outcome.output.contains("u:p"))
        // Nor a key of the device.
        for path in [bench.store, bench.path(".local/share/lecturekit-device")] {
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(arguments: ["--key", "--title", "--output"])
    func `options of one URL are refused for several sources`(option: String) async throws {
        let bench = try await Bench()
        let outcome = await bench("precache", "https://h/a", "https://h/b", option, "x")
        #expect(outcome.status == .usage)
        #expect(outcome.diagnostics.contains("Option '\(option)' needs exactly one URL."))
        #expect(await bench("precache", "list.txt", option, "x").status == .usage)
    }

    @Test func `an unreadable list is an error with its name`() async throws {
        let bench = try await Bench()
        let missing = await bench("precache", bench.path("none.txt"))
        #expect(missing.status == .data)
        #expect(missing.diagnostics.contains("none.txt"))
        let foreign = try bench.scratch.write("list.pdf", "x")
        #expect(await bench("precache", foreign).status == .data)
    }

    @Test func `a deadline ends with 75, and the next run continues`() async throws {
        let bench = try await Bench()
        // The first answer stalls half-way: the run ends this way on any machine, slow or fast.
        let source = bench.url("bytes-4M-9.mp4?fault=stall:2000000;times=1")
        let first = await bench("precache", source, "--connections", "1", "--deadline", "1s", "--json")
        #expect(first.status == .tryAgain)
        let second = await bench("precache", "--json")
        #expect(second.status == .done, "\(second.diagnostics)")
        #expect(second.output.contains(#""completed":1"#))
    }
}

@Suite struct CommandStoreNetTests {
    /// A store with two complete lectures and one that does not exist on the server.
    private func filled() async throws -> Bench {
        let bench = try await Bench()
        let list = try bench.scratch.write(
            "c.jsonl",
            """
            {"url":"\(bench.url("bytes-2M-1.mp4"))","key":"a","title":"Anfang","course":"X"}
            {"url":"\(bench.url("bytes-1M-2.mp4"))","key":"b","title":"Mitte","priority":5}
            {"url":"\(bench.url("none.mp4"))","key":"c","title":"Ende","folder":"maths"}
            """)
        #expect(await bench("precache", list).status == .someFailed)
        return bench
    }

    @Test func `lists are filtered, sorted and limited`() async throws {
        let bench = try await filled()
        let all = await bench("list", "--json")
        try expectSchemas(all.output)
        #expect(
            await bench("list", "--state", "completed", "--sort", "size").output.hasPrefix(
                "a\tcompleted\t100%\t2.00 MiB"))
        #expect(await bench("list", "--sort", "title", "--offset", "1", "--limit", "1").output.hasPrefix("c\t"))
        #expect(await bench("list", "--sort", "priority", "--limit", "1").output.hasPrefix("b\t"))
        #expect(await bench("list", "--sort", "folder", "--limit", "1").output.hasPrefix("c\t"))
        #expect(await bench("list", "--course", "X").output.split(separator: "\n").count == 1)
        #expect(await bench("list", "--expiring", "3d").output.isEmpty)
    }

    @Test func `one lecture is shown, explained and found`() async throws {
        let bench = try await filled()
        let shown = await bench("show", "a")
        #expect(shown.output.contains("State:         completed\n"))
        #expect(shown.output.contains("Path:"))
        try expectSchemas(await bench("show", "a", "--json").output)
        let why = await bench("why", "c")
        #expect(why.status == .done)
        #expect(why.output.contains("404"))
        try expectSchemas(await bench("why", "c", "--json").output)
        let path = await bench("path", "a").output.dropLast()
        #expect(try Data(contentsOf: URL(filePath: String(path))).count == 2 << 20)
        let open = await bench("path", "c")
        #expect(open.status == .tryAgain)
        #expect(open.diagnostics.contains("not complete"))
    }

    @Test func `media bytes are written, whole and in part`() async throws {
        let bench = try await filled()
        let path = String(await bench("path", "b").output.dropLast())
        let whole = try BuiltProgram.run(
            BuiltProgram.url, ["--store", bench.store, "cat", "b"], environment: ["HOME": "/"])
        let file = try Data(contentsOf: URL(filePath: path))
        #expect(whole.status == 0 && whole.output == file)
        let part = try BuiltProgram.run(
            BuiltProgram.url, ["--store", bench.store, "cat", "b", "--range", "1000-1999"], environment: ["HOME": "/"])
        #expect(part.output == file[1000..<2000])
        #expect(await bench("cat", "b", "--range", "99999999-").status == .usage)
    }

    @Test func `an unknown key is named and ends with 1`() async throws {
        let bench = try await filled()
        for words in [["show"], ["why"], ["path"], ["cat"], ["pause"], ["resume"], ["cancel"]] {
            let outcome = await bench(words[0], "nokey")
            #expect(outcome.status == .someFailed, "\(words)")
            #expect(outcome.diagnostics.contains("no lecture has this key"))
        }
        #expect(await bench("reorder", "nokey", "--first").status == .someFailed)
        #expect(await bench("reorder", "a").status == .usage)
        #expect(await bench("reorder", "--all", "--first").status == .usage)
        #expect(await bench("reorder", "a", "b", "--priority", "-7").status == .done)
        #expect(await bench("list", "--json").output.contains(#""priority":-7"#))
    }

    @Test func `paused lectures are skipped until they are resumed`() async throws {
        let bench = try await filled()
        let paused = await bench("pause", "c", "--json")
        #expect(paused.status == .done)
        try expectSchemas(paused.output)
        #expect(paused.output.contains(#""stop_reason":"user""#))
        #expect(await bench("precache").status == .done)
        #expect(await bench("resume", "--all").diagnostics.contains("1 lecture resumed."))
        #expect(await bench("precache").status == .someFailed)
        #expect(await bench("pause", "a").status == .done)
    }

    @Test func `removed lectures are gone with their files`() async throws {
        let bench = try await filled()
        let path = String(await bench("path", "a").output.dropLast())
        let outcome = await bench("remove", "a", "nokey", "--json")
        #expect(outcome.status == .done)
        try expectSchemas(outcome.output)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(await bench("remove", "--all").diagnostics.contains("2 lectures removed."))
        #expect(await bench.keys().isEmpty)
    }

    @Test func `damage is found, named by its bytes, and repaired`() async throws {
        let bench = try await filled()
        let path = String(await bench("path", "a").output.dropLast())
        let sound = await bench("verify", "--all", "--json")
        #expect(sound.status == .done)
        try expectSchemas(sound.output)
        let original = try Data(contentsOf: URL(filePath: path))
        var spoilt = original
        spoilt[1_500_000] ^= 1
        try spoilt.write(to: URL(filePath: path))
        let damaged = await bench("verify", "a", "--json")
        #expect(damaged.status == .data)
        try expectSchemas(damaged.output)
        #expect(damaged.output.contains(#""first_byte":1048576"#))
        #expect(await bench("cat", "a").status == .data)
        let repaired = await bench("verify", "--all", "--repair")
        #expect(repaired.status == .done, "\(repaired.diagnostics)")
        #expect(repaired.diagnostics.contains("1 repaired"))
        let new = String(await bench("path", "a").output.dropLast())
        #expect(try Data(contentsOf: URL(filePath: new)) == original)
        #expect(await bench("verify", "c").status == .someFailed)
    }

    @Test func `the store is described, checked and copied`() async throws {
        let bench = try await filled()
        let info = await bench("store", "info", "--json", "--jobs", "9")
        try expectSchemas(info.output)
        #expect(info.output.contains(#"{"name":"network.jobs","value":"9","origin":"option"}"#))
        #expect(await bench("store", "info").output.contains("0001_create_store"))
        #expect(await bench("store", "check").status == .done)
        #expect(await bench("store", "migrate").diagnostics.contains("up to date"))
        let copy = bench.path("copy.db")
        #expect(await bench("store", "backup", copy).status == .done)
        #expect(await bench("store", "backup", copy).status == .cannotCreate)
        try expectSchemas(await bench("status", "--json").output)
        #expect(await bench("status").output.hasPrefix("2 completed, 1 failed; 3.00 MiB"))
    }

    @Test func `settings are printed before there is a store, and a foreign database is left untouched`() async throws {
        let bench = try await Bench()
        let info = await bench("store", "info", "--json")
        #expect(info.status == .done)
        try expectSchemas(info.output)
        #expect(!FileManager.default.fileExists(atPath: bench.store))
        #expect(await bench("store", "check").status == .inputOutput)
        try FileManager.default.createDirectory(atPath: bench.store, withIntermediateDirectories: true)
        let foreign = Data("not a database at all".utf8)
        let file = URL(filePath: bench.store).appending(path: "lecturekit.db")
        try foreign.write(to: file)
        let outcome = await bench("list")
        #expect(outcome.status == .data)
        #expect(try Data(contentsOf: file) == foreign)
    }

    @Test func `a mistyped setting is reported and does no harm`() async throws {
        let bench = try await Bench()
        let file = try bench.scratch.write("config.json", #"{"network":{"jbos":3}}"#)
        let outcome = await bench("--config", file, "status")
        #expect(outcome.status == .done)
        #expect(outcome.diagnostics.contains("unknown setting 'network.jbos' ignored (did you mean 'network.jobs'?)"))
    }
}

/// Signals, kills and pipes at the built program.
@Suite struct ProgramNetTests {
    private func start(_ bench: Bench, _ words: [String], keepsInputOpen: Bool = false) throws -> ChildProcess {
        try ChildProcess(
            BuiltProgram.url.path, ["--store", bench.store] + words, environment: ["HOME": bench.scratch.url.path],
            keepsInputOpen: keepsInputOpen)
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal stops cleanly, and the next run fetches only what is missing`(signal: Int32, status: Int32)
        async throws
    {
        let bench = try await Bench()
        let media = "/media/bytes-24M-3.mp4"
        // Started, and stalled before its end, however late this test sees it.
        try await bench.sandbox.set(fault: "stall:10000000", on: media)
        let child = try start(bench, ["precache", bench.url("bytes-24M-3.mp4"), "--json"])
        try await child.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(#""event":"progress""#) }
        child.send(signal)
        let ending = await child.ending()
        #expect(ending.status == status)
        #expect(ending.text.split(separator: "\n").last?.hasPrefix(#"{"event":"summary""#) ?? false)
        try await bench.sandbox.set(fault: "", on: media)
        #expect(await bench("store", "check").status == .done)
        #expect(await bench("precache").status == .done)
        let path = String(await bench("path", await bench.keys()[0]).output.dropLast())
        let sum = try BuiltProgram.run(URL(filePath: "/usr/bin/sha256sum"), [path])
        #expect(sum.outputText.hasPrefix(try await bench.sandbox.sha256(of: media)))
    }

    @Test func `a signal is handled while standard input is silent`() async throws {
        let bench = try await Bench()
        let child = try start(bench, ["precache", "-", "--acks"], keepsInputOpen: true)
        child.write("\(bench.url("bytes-64K-1.mp4"))\n")
        try await child.wait(for: .output) { String(decoding: $0, as: UTF8.self).hasPrefix("ACK ") }
        child.send(SIGINT)
        #expect(await child.ending().status == 130)
    }

    @Test func `a watcher sees the work of another process and ends at a signal`() async throws {
        let bench = try await Bench()
        let watcher = try start(bench, ["status", "--watch"])
        try await watcher.wait(for: .output) { String(decoding: $0, as: UTF8.self).hasPrefix("The store is empty.") }
        #expect(await bench("precache", bench.url("bytes-64K-1.mp4")).status == .done)
        try await watcher.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains("1 completed;") }
        watcher.send(SIGTERM)
        #expect(await watcher.ending().status == 143)
    }
}
