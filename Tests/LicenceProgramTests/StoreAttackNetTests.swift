import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Stores that are rolled back or copied to other devices, replaced devices, and tampered media.
@Suite(.timeLimit(.minutes(3))) struct StoreAttackNetTests {
    private static let counted = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 2) }

    @Test func `a store restored from yesterday allows no play, and its server repairs it`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.counted)
            try await me.goOffline()
            let yesterday = try me.copy("yesterday")
            #expect(try await me.plays(key) == 2)
            try LicenceScene.copy(yesterday.store, to: me.store)
            try await me.expectRefused(key, "store_rolled_back", -20107)
            #expect(try await me.plays(key) == 0)
            // A second time, and with the recorded finding rolled back as well.
            try LicenceScene.copy(yesterday.store, to: me.store)
            #expect(try await me.plays(key) == 0)
            // The used plays are unknown: a check alone does not restore the licence, a reset does.
            try await me.goOnline()
            #expect(try await me("licence", "renew", key).status == 1)
            try await me.expectRefused(key, "store_rolled_back", -20107)
            try await me.sandbox.set(
                policy: LicenceLifeNetTests.policy { ($0.expirationCount, $0.contentExpireReset) = (1, 1) }, for: [key])
            #expect(try await me("licence", "renew", key).status == 0)
            try await me.goOffline()
            #expect(try await me.plays(key) == 1)
        }
    }

    @Test func `a copy does not play on another machine`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.counted)
            try await me.goOffline()
            var copied = try me.copy("machine", device: false)
            copied.device = me.home.file("other-device")
            try await copied.expectRefused(key, "store_copied", -20105)
            #expect(try await copied.plays(key) == 0)
            // No server is asked; and where the store is taken over, what was sealed for another device stays
            // closed.
            try await me.goOnline()
            #expect(try await copied("licence", "renew", key).status == 77)
            #expect(try await copied("licence", "regrant", key, "--new-device").status == 1)
            let ending = try await copied("cat", key)
            #expect(ending.status != 0 && ending.output.isEmpty)
            // Both together are the same device in another place.
            try await me.goOffline()
            let moved = try me.copy("moved")
            #expect(try await moved.plays(key) == 2)
            // In the place that was left, the plays that were taken elsewhere cannot be known.
            #expect(try await me.plays(key) == 2)
        }
    }

    @Test func `without its anchor a used store is rejected`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 40 })
            try await me.goOffline()
            // More plays than a new store may have without its anchor.
            #expect(try await me.plays(key, atMost: 18) == 18)
            let anchors = try FileManager.default.contentsOfDirectory(atPath: me.device + "/anchors")
            #expect(anchors.count == 1)
            for spoil in [nil, Data(), Data(repeating: 0x41, count: 98)] {
                let victim = try me.copy("anchor-\(spoil?.count ?? -1)")
                let path = victim.device + "/anchors/" + anchors[0]
                try FileManager.default.removeItem(atPath: path)
                if let spoil {
                    _ = FileManager.default.createFile(
                        atPath: path, contents: spoil, attributes: [.posixPermissions: 0o600])
                }
                try await victim.expectRefused(key, "store_rolled_back", -20107)
                #expect(try await victim.plays(key) == 0)
            }
            #expect(try await me.plays(key, atMost: 1) == 1)
        }
    }

    @Test func `a device key that other users may read, or another one, opens nothing`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.counted)
            try await me.goOffline()
            let path = me.device + "/device.key"
            for mode in [0o640, 0o604, 0o660] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                let refusal = try await me.refusal(of: key)
                #expect(refusal == LicenceScene.Refusal(status: 78, code: -20111))
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(try await me.plays(key, atMost: 1) == 1)
            let bytes = try #require(FileManager.default.contents(atPath: path))
            try (bytes.dropLast() + [bytes[80] ^ 1]).write(to: URL(filePath: path))
            #expect(try await me.refusal(of: key).code == -20111)
            // A damaged key is not replaced by a new one; the right one works again.
            try bytes.write(to: URL(filePath: path))
            #expect(try await me.plays(key) == 1)
        }
    }

    @Test func `segments that were moved, cut, added or exchanged are not played`() async throws {
        try await LicenceScene.play { me in
            let (key, other) = (try await me.fetch("3000000-7"), try await me.fetch("3000000-8"))
            try await me.goOffline()
            let (media, foreign) = (try await me.media(key), try await me.media(other))
            let sealed = try #require(FileManager.default.contents(atPath: media))
            let strange = try #require(FileManager.default.contents(atPath: foreign))
            let original = try await me.original(key)
            let segment = 1 << 20
            let (first, second, third) = (
                sealed[..<segment], sealed[segment..<(2 * segment)], sealed[(2 * segment)...]
            )
            let cases: [(String, Data)] = [
                ("exchanged", first[..<40] + second[(segment + 40)...] + first[40...] + third),
                ("two of them exchanged", first + sealed[(2 * segment)...] + second),
                ("dropped", first + third), ("the last dropped", first + second),
                ("cut off", sealed.dropLast(1000)), ("emptied", Data()),
                ("taken from another lecture", first + strange[segment..<(2 * segment)] + third),
                ("another lecture's file", strange), ("another header", strange[..<40] + sealed[40...]),
                ("a bit", sealed.flipped(at: segment + 77)), ("the tag", sealed.flipped(at: sealed.count - 1)),
            ]
            for (name, bytes) in cases {
                try bytes.write(to: URL(filePath: media))
                let refusal = try await me("cat", key)
                #expect(refusal.status == 65, "\(name): \(refusal.status) \(refusal.errorText)")
                // Bytes returned before the damage are right, and end at a segment boundary.
                #expect(original.starts(with: refusal.output), "\(name)")
            }
            // Bytes behind the end are not read.
            for bytes in [sealed + third, sealed + [0], sealed] {
                try bytes.write(to: URL(filePath: media))
                #expect(try await me("cat", key).output == original)
            }
            #expect(try await me("verify", key).status == 0)
            // A verification of the whole finds it, and the finding stays until the damage is repaired.
            for (name, file, bytes) in [(key, media, sealed + [0]), (other, foreign, strange + third)] {
                try bytes.write(to: URL(filePath: file))
                #expect(try await me("verify", name).status != 0)
            }
            try sealed.write(to: URL(filePath: media))
            #expect(try await me("verify", key).status != 0)
        }
    }

    @Test func `an older sealed file of the same lecture is not played`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("200K-1", .ending(in: 3600), query: "digest=none")
            let (media, was) = (try await me.media(key), try await me.original(key))
            let old = try #require(FileManager.default.contents(atPath: media))
            // A repair finds that the lecture has changed, and fetches it under a new header.
            try await me.sandbox.set(fault: "changed", on: "/media/\(key).mp4")
            try Data(old.dropLast(5000)).write(to: URL(filePath: media))
            let repaired = try await me("verify", key, "--repair")
            #expect(repaired.status == 0, "\(repaired.errorText)")
            #expect(try await me.original(key) != was)
            let path = try await me.media(key)
            let new = try #require(FileManager.default.contents(atPath: path))
            #expect(new[..<40] != old[..<40])
            #expect(try await me("cat", key).output == (try await me.original(key)))
            try old.write(to: URL(filePath: path))
            try await me.goOffline()
            let ending = try await me("cat", key)
            #expect(ending.status == 65 && ending.output.isEmpty, "\(ending.status) \(ending.errorText)")
        }
    }
}

extension Data {
    /// The bytes with one bit changed.
    fileprivate func flipped(at place: Int) -> Data {
        var changed = self
        changed[place] ^= 1
        return changed
    }
}
