import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `precache --prune`: what may be removed, and why nothing is.
@Suite(.timeLimit(.minutes(3))) struct PruneNetTests {
    private func keys(_ me: BadDay) async throws -> [String] {
        try await me.list().filter { $0.state == "completed" }.compactMap(\.key).sorted()
    }

    /// Writes a list of films that have the keys `k1`, `k2`, …
    private func write(_ numbers: [Int], _ more: String = "", to name: String, _ shelf: Shelf) throws -> String {
        let list = try shelf.list(numbers.map { ["url": shelf.url("\($0).mp4"), "key": "k\($0)"] }, to: name)
        guard !more.isEmpty else { return list }
        let text = try String(contentsOfFile: list, encoding: .utf8)
        return try shelf.me.home.write("\(text)\n\(more)\n", to: name)
    }

    // MARK: Gateway links

    /// Writes a list of links with fresh tokens.
    private func links(
        _ keys: [String], validFor seconds: Int, _ me: BadDay, _ sandbox: SandboxOrigin
    ) async throws -> String {
        var text = ""
        for key in keys { text += try await sandbox.link(key: key, expiresIn: seconds) + "\n" }
        return try me.home.write(text, to: "course.txt")
    }

    @Test func `while a gateway does not answer, no lecture of its list is removed`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let (one, two) = ("bytes-64K-1", "bytes-64K-2")
        let list = try await links([one, two], validFor: 600, me, sandbox)
        #expect(try await me("precache", list, "--prune").status == 0)
        #expect(try await keys(me) == [one, two])

        // Fresh tokens are lectures of their own until the gateway has named them.
        _ = try await links([one], validFor: 700, me, sandbox)
        let unknown = try await me("precache", list, "--prune", "-n", "--max-delete", "100%")
        #expect(!unknown.text.contains("gone") && unknown.errorText.contains("Nothing would be removed: the gateway"))
        #expect(unknown.errorText.contains("(--check head asks it)"), "\(unknown.errorText)")
        let asked = try await me("precache", list, "--prune", "-n", "--max-delete", "100%", "--check", "head")
        #expect(asked.text.contains("gone\t64.0 KiB\t\(two)\t"), "\(asked.text)\(asked.errorText)")
        #expect(asked.text.components(separatedBy: "gone\t").count == 2, "\(asked.text)")
        try await sandbox.set(fault: "status:403", on: "/si")
        for words in [["--prune"], ["--prune", "-n"]] {
            let ending = try await me.run(["precache", list, "--max-delete", "100%"] + words)
            let sentence = "removed: the gateway has not said which lecture 1 gateway link in \(list) is"
            #expect(ending.errorText.contains(sentence), "\(ending.errorText)")
            #expect(!ending.text.contains("gone\t"), "\(ending.text)")
        }
        #expect(try await keys(me) == [one, two])

        // The same links, once it answers: the list names the lecture that was there before.
        try await sandbox.set(fault: "", on: "/si")
        let pruned = try await me("precache", list, "--prune", "--max-delete", "100%")
        #expect(pruned.status == 0 && pruned.errorText.contains("1 lecture removed"), "\(pruned.errorText)")
        #expect(try await keys(me) == [one])
        _ = try await links([one, one, two], validFor: 800, me, sandbox)
        #expect(try await me("precache", list, "--prune", "--max-delete", "100%").status == 0)
        #expect(try await keys(me) == [one, two])
        try await me.expectSound()
        await sandbox.stop()
    }

    @Test func `a lecture that its gateway names otherwise than its list stays in the list`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        func list(_ names: [Int], validFor seconds: Int) async throws -> String {
            var text = ""
            for name in names {
                let link = try await sandbox.link(key: "bytes-64K-\(name)", expiresIn: seconds)
                text += #"{"url":"\#(link)","key":"mine-\#(name)"}"# + "\n"
            }
            return try me.home.write(text, to: "course.jsonl")
        }
        for seconds in [600, 700] {
            let list = try await list([1, 2], validFor: seconds)
            let ending = try await me("precache", list, "--prune", "--max-delete", "100%")
            #expect(ending.status == 0, "\(ending.errorText)")
            #expect(try await keys(me) == ["bytes-64K-1", "bytes-64K-2"])
        }
        let ending = try await me("precache", try await list([2], validFor: 800), "--prune")
        #expect(ending.errorText.contains("1 lecture removed"), "\(ending.errorText)")
        #expect(try await keys(me) == ["bytes-64K-2"])
        await sandbox.stop()
    }

    // MARK: Lectures that move

    @Test func `a lecture that moved to a list with a refused line is kept`() async throws {
        let shelf = try await Shelf()
        for number in 1...3 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        let (a, b) = (
            try write([1, 2], to: "a.jsonl", shelf), try write([3], to: "b.jsonl", shelf)
        )
        #expect(try await shelf.me("precache", a, b, "--prune").status == 0)
        _ = try write([1], to: "a.jsonl", shelf)
        _ = try write([3, 2], "not JSON", to: "b.jsonl", shelf)
        let broken = try await shelf.me("precache", a, b, "--prune", "--max-delete", "100%")
        #expect(broken.status == 65)
        #expect(broken.errorText.contains("Nothing was removed: \(b) has 1 refused line."), "\(broken.errorText)")
        #expect(try await shelf.me("precache", a, "--prune", "--max-delete", "100%").status == 0)
        #expect(try await keys(shelf.me) == ["k1", "k2", "k3"])

        _ = try write([3], to: "b.jsonl", shelf)
        let pruned = try await shelf.me("precache", a, b, "--prune")
        #expect(pruned.errorText.contains("1 lecture removed"), "\(pruned.errorText)")
        #expect(try await keys(shelf.me) == ["k1", "k3"])
    }

    @Test func `a lecture that moved to a list whose run ended early is kept`() async throws {
        let shelf = try await Shelf()
        for number in 1...4 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        let (a, b) = (
            try write([1, 2], to: "a.jsonl", shelf), try write([3], to: "b.jsonl", shelf)
        )
        #expect(try await shelf.me("precache", a, b, "--prune").status == 0)
        _ = try write([1], to: "a.jsonl", shelf)
        _ = try write([2, 4], to: "b.jsonl", shelf)
        let early = try await shelf.me("precache", b, "--prune", "--limit-rate", "1K", "--deadline", "1s")
        #expect(early.status == 75)
        #expect(early.errorText.contains("Nothing was removed: --deadline ended the run."), "\(early.errorText)")
        let pruned = try await shelf.me("precache", a, "--prune", "--max-delete", "100%")
        #expect(pruned.status == 0 && !pruned.errorText.contains("removed"), "\(pruned.errorText)")
        #expect(try await keys(shelf.me) == ["k1", "k2", "k3"])
    }

    @Test func `a signal and an empty list are the reason why nothing is removed`() async throws {
        let shelf = try await Shelf()
        for number in 1...2 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        let list = try write([1], to: "a.jsonl", shelf)
        #expect(try await shelf.me("precache", list, "--prune").status == 0)
        let empty = try shelf.me.home.write("# nothing\n", to: "empty.txt")
        for words in [[empty, "--prune"], [list, empty, "--prune", "-n"]] {
            let ending = try await shelf.me.run(["precache"] + words)
            #expect(ending.errorText.contains("removed: \(empty) is empty."), "\(ending.errorText)")
        }
        _ = try write([2], to: "a.jsonl", shelf)
        let process = try shelf.me.start("precache", list, "--prune", "--limit-rate", "1K", "--max-delete", "100%")
        while try await shelf.me.list().allSatisfy({ $0.key != "k2" }) {}
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.errorText.contains("Nothing was removed: a signal ended the run."), "\(ending.errorText)")
        #expect(try await keys(shelf.me) == ["k1"])
    }

    // MARK: The dry run

    /// Runs the command line twice, first dry; what the dry run shows as gone must be what the other removes.
    private func both(_ shelf: Shelf, _ words: String...) async throws -> [String] {
        let words = ["precache", "--prune"] + words
        let before = try await shelf.me.list().compactMap(\.key)
        let dry = try await shelf.me.run(words + ["-n"])
        let gone = dry.text.split(separator: "\n").filter { $0.hasPrefix("gone\t") }.map { line in
            String(line.split(separator: "\t")[2])
        }
        #expect(try await shelf.me.list().compactMap(\.key) == before)
        let ending = try await shelf.me.run(words)
        let after = Set(try await shelf.me.list().compactMap(\.key))
        let removed = before.filter { !after.contains($0) }
        #expect(gone == removed, "\(words): \(dry.errorText)\(ending.errorText)")
        return removed
    }

    @Test func `a dry run shows the lectures that a run removes`() async throws {
        let shelf = try await Shelf()
        for number in 1...9 { try shelf.put("\(number).mp4", seed: UInt64(number), count: 20_000) }
        let (a, b) = (
            try write([1, 2, 3, 4, 5], to: "a.jsonl", shelf), try write([6], to: "b.jsonl", shelf)
        )
        #expect(try await both(shelf, a, b) == [])
        // A lecture moves, another leaves, and what has left is too much for the share until new ones are counted.
        _ = try write([1, 2, 3, 4], to: "a.jsonl", shelf)
        _ = try write([6, 1], to: "b.jsonl", shelf)
        #expect(try await both(shelf, a, b, "--max-delete", "16%") == [])
        _ = try write([2, 3, 4, 7], to: "a.jsonl", shelf)
        #expect(try await both(shelf, a, b, "--max-delete", "15%") == ["k5"])
        // A URL that is refused is not a line of the list.
        _ = try write([2, 3, 4], to: "a.jsonl", shelf)
        #expect(try await both(shelf, a, shelf.url("x.m3u8")) == ["k7"])
        _ = try write([2, 3], "not JSON", to: "a.jsonl", shelf)
        #expect(try await both(shelf, a) == [])
        // What leaves now is kept for a day; with a shorter time it is removed.
        _ = try write([2, 3], to: "a.jsonl", shelf)
        #expect(try await both(shelf, a, "--keep", "1d") == [])
        #expect(try await both(shelf, a, b, "--max-delete", "0") == [])
        #expect(try await both(shelf, a, b) == ["k4"])
        // Also requested by itself.
        let plain = try shelf.me.home.write("\(shelf.url("8.mp4"))\n\(shelf.url("9.mp4"))\n", to: "c.txt")
        #expect(try await both(shelf, plain) == [])
        try shelf.me.home.write("\(shelf.url("8.mp4"))\n", to: "c.txt")
        #expect(try await both(shelf, plain, shelf.url("9.mp4")) == [])
        #expect(try await both(shelf, plain) == [])
    }

    // MARK: Many lectures

    @Test func `removing many lectures reports each once, and unknown keys are no error`() async throws {
        let shelf = try await Shelf()
        try shelf.put("1.mp4", seed: 1, count: 20_000)
        let lines = (1...400).map { ["url": shelf.url("1.mp4"), "key": "k\($0)"] }
        let list = try shelf.list(lines, to: "a.jsonl")
        #expect(try await shelf.me("precache", list, "--prune").status == 0)
        let named = try await shelf.me("remove", "k1", "none", "k2", "--json")
        #expect(named.status == 0, "\(named.errorText)")
        #expect(try Line.all(named.text).compactMap(\.key).sorted() == ["k1", "k2", "none"])
        _ = try shelf.list(lines.suffix(1), to: "a.jsonl")
        let pruned = try await shelf.me("precache", list, "--prune", "--max-delete", "100%", "--json")
        #expect(pruned.status == 0 && pruned.errorText.contains("397 lectures removed"), "\(pruned.errorText)")
        let removed = try Line.all(pruned.text).filter { $0.event == "removed" }.compactMap(\.key)
        #expect(removed.sorted() == (3...399).map { "k\($0)" }.sorted())
        #expect(try await keys(shelf.me) == ["k400"])
        try await shelf.me.expectSound()
    }
}
