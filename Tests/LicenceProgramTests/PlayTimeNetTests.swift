import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Limited play time through the built program: no way of reading gets more of a lecture than its licence grants, and
/// nothing is charged that was not read. Generated lectures have no duration, so a second of them is 125,000 bytes.
@Suite(.timeLimit(.minutes(3))) struct PlayTimeProgramNetTests {
    private static func seconds(_ count: Int, type: Int = 0) -> CallbackPolicy {
        LicenceLifeNetTests.policy { ($0.expirationPlaytime, $0.expirationPlaytimeType) = (count, type) }
    }

    /// The play time in the ledger, in milliseconds.
    private func used(_ me: LicenceScene, _ key: String) async throws -> Int {
        try #require(Int(try await me.sql("SELECT play_time_used_ms FROM licence WHERE content_key = '\(key)'")))
    }

    @Test(arguments: [0, 1])
    func `a lecture is written until its play time is used up, and not again`(type: Int) async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("9M-1", Self.seconds(60, type: type))
            let original = try await me.original(key)
            try await me.goOffline()
            let ending = try await me("cat", key)
            #expect(ending.status == 77 && ending.errorText.contains("play time is used up"), "\(ending.errorText)")
            #expect(ending.output == original.prefix(ending.output.count))
            let whole = 60 * 125_000
            // Running seconds may be more than those of the lecture, where the machine is slow.
            #expect((type == 0 ? whole - 1000 : whole / 2)...(whole + 1000) ~= ending.output.count)
            let licence = try await me.licence(key)
            #expect(licence.playtimeLeftS == 0 && licence.playtimeUsedS == 60)
            try await me.expectRefused(key, "play_time_used_up", -8683)
            #expect(try await me("cat", "--range", "0-0", key).output.isEmpty)
        }
    }

    @Test func `a range costs its share, and an output that is closed early what it took`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("9M-1", Self.seconds(60))
            try await me.goOffline()
            #expect(try await me("cat", "--range", "0-1249999", key).output.count == 1_250_000)
            let range = try await used(me, key)
            #expect((10_000...10_001).contains(range))
            #expect(try await me("cat", "--range", "-1", key).output.count == 1)
            #expect((10_001...10_002).contains(try await used(me, key)))
            _ = try await me.withMounts(#""$0" cat "$1" | head -c 100 | wc -c"#, key)
            #expect((10_001...12_100).contains(try await used(me, key)))
            #expect(try await me.licence(key).playtimeUsedS ?? 0 >= 10)
        }
    }

    @Test func `a killed reader costs what it wrote, and at most a step more`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("40M-1", Self.seconds(86_400))
            try await me.goOffline()
            var (before, cut) = (0, 0)
            for round in 1...12 {
                let process = try me.start(["cat", key])
                // proof: the kill comes while the program writes, or just after; both are checked.
                _ = try? await process.wait(for: .output) { $0.count >= round * 2_500_000 }
                process.send(SIGKILL)
                let written = await process.ending().output.count
                let after = try await used(me, key)
                let cost = after - before
                #expect(cost >= written / 125 - 1, "\(written) bytes for \(cost) ms")
                // A piece of a second may be charged and not written yet.
                #expect(cost <= written / 125 + 11_000, "\(written) bytes for \(cost) ms")
                if written < 40 << 20 { cut += 1 }
                before = after
            }
            #expect(cut >= 6, "most were killed in the middle")
            #expect(try await me.licence(key).verdict == "playable", "the ledger is intact")
        }
    }

    @Test func `twelve readers at once get no more than is granted`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("20M-1", Self.seconds(60))
            try await me.goOffline()
            let readers = try (0..<12).map { number in
                try me.start(["cat", "--range", "\(number * 1_500_000)-\(number * 1_500_000 + 1_249_999)", key])
            }
            var (sum, refused) = (0, 0)
            for reader in readers {
                let ending = await reader.ending()
                me.keep(ending, isMedia: true)
                sum += ending.output.count
                refused += ending.status == 77 ? 1 : 0
                #expect([0, 77].contains(ending.status), "\(ending.errorText)")
            }
            #expect(sum <= 60 * 125_000 + 100 && sum >= 58 * 125_000, "\(sum)")
            #expect(refused >= 6)
            try await me.expectRefused(key, "play_time_used_up", -8683)
        }
    }

    @Test func `a device directory that cannot be written, and damaged media, cost no time`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("9M-1", Self.seconds(60))
            try await me.goOffline()
            let script = """
                mount --bind "$LECTURE_DEVICE" "$LECTURE_DEVICE"
                mount -o remount,bind,ro "$LECTURE_DEVICE"
                for round in 1 2 3; do "$0" cat "$1" | wc -c; done
                """
            let ending = try await me.withMounts(script, key)
            #expect(ending.text == "0\n0\n0\n", "\(ending.text)")
            #expect(try await used(me, key) == 0)
            let file = try FileHandle(forWritingTo: URL(filePath: try await me.media(key)))
            try file.seek(toOffset: 100_000)
            try file.write(contentsOf: Data(repeating: 7, count: 100_000))
            try file.close()
            for _ in 0..<3 {
                let damaged = try await me("cat", key)
                #expect(damaged.status == 65 && damaged.output.isEmpty)
            }
            #expect(try await used(me, key) == 0)
        }
    }

    @Test func `play time comes back neither with an earlier copy nor by editing`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("9M-1", Self.seconds(60))
            try await me.goOffline()
            let early = try me.copy("early")
            #expect(try await me("cat", "--range", "0-4999999", key).status == 0)
            let edited = try me.copy("edited")
            try await edited.sql("UPDATE licence SET play_time_used_ms = 0")
            try await edited.expectRefused(key, "ledger_forged", -20106)
            try LicenceScene.copy(early.store, to: me.store)
            try await me.expectRefused(key, "store_rolled_back", -20107)
        }
    }

    @Test func `the server's reset gives the whole time again`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("9M-1", Self.seconds(60))
            #expect(try await me("cat", key).status == 77)
            var policy = Self.seconds(60)
            policy.contentExpireReset = 1
            try await me.sandbox.set(policy: policy, for: [key])
            #expect(try await me("licence", "renew", "--all").status == 0)
            #expect(try await me.licence(key).playtimeLeftS == 60)
            #expect(try await me("cat", "--range", "0-999", key).status == 0)
        }
    }
}
