import Foundation
import Glibc
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// The directory of the device's key: its files are whole, private, and never replaced by themselves.
@Suite struct DeviceHomeTests {
    private let place: TemporaryDirectory
    private let home: DeviceHome

    init() throws {
        place = try TemporaryDirectory()
        home = DeviceHome(directory: place.file("device"))
    }

    private var keyFile: URL { URL(filePath: place.file("device/device.key")) }

    @Test func `The key stays the same, and is stored before it is returned`() throws {
        let identity = try home.identity()
        #expect(try home.identity() == identity)
        #expect(identity.publicJWK.contains(identity.playerID))
        #expect(try Data(contentsOf: keyFile).count == 81)
        #expect(try DeviceHome(directory: place.file("other")).identity() != identity)
    }

    @Test func `A file that other users may access is refused, and no new key is drawn over it`() throws {
        _ = try home.identity()
        for mode in [0o604, 0o640, 0o620, 0o601, 0o660, 0o777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: keyFile.path)
            #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
        _ = try home.identity()
    }

    @Test func `A torn or changed file is refused and left untouched`() throws {
        _ = try home.identity()
        let whole = try Data(contentsOf: keyFile)
        var changed = whole
        changed[20] ^= 1
        for bytes in [Data(), whole.prefix(80), whole + [0], changed, Data(count: 81)] {
            try bytes.write(to: keyFile)
            #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
            #expect(try Data(contentsOf: keyFile) == bytes)
        }
        try Data(count: 5000).write(to: keyFile)
        #expect(throws: LectureError(.readFile)) { try home.identity() }
    }

    @Test func `Links, directories and pipes in place of the key are refused`() throws {
        _ = try home.identity()
        let kept = place.file("kept")
        try FileManager.default.moveItem(atPath: keyFile.path, toPath: kept)
        try FileManager.default.createSymbolicLink(atPath: keyFile.path, withDestinationPath: kept)
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
        try FileManager.default.removeItem(at: keyFile)
        try FileManager.default.createDirectory(at: keyFile, withIntermediateDirectories: false)
        #expect(throws: LectureError(.readFile)) { try home.identity() }
        try FileManager.default.removeItem(at: keyFile)
        #expect(unsafe mkfifo(keyFile.path, 0o600) == 0)
        #expect(throws: LectureError(.readFile)) { try home.identity() }
    }

    @Test func `A directory that other users may write to is refused`() throws {
        _ = try home.identity()
        let directory = place.file("device")
        for mode in [0o720, 0o702, 0o777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
            #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
        _ = try home.identity()
    }

    @Test(.enabled(if: geteuid() == 0))
    func `Files of another user are refused`() throws {
        _ = try home.identity()
        #expect(unsafe chown(keyFile.path, 4242, 4242) == 0)
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
        #expect(unsafe chown(keyFile.path, 0, 0) == 0)
        #expect(unsafe chown(place.file("device"), 4242, 4242) == 0)
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
    }

    @Test func `Leftovers of a killed writer are no obstacle`() throws {
        let directory = place.file("device")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data([1, 2, 3]).write(to: URL(filePath: "\(directory)/.device.key.new"))
        _ = try home.identity()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["device.key"])
    }

    @Test func `The environment names the directory`() {
        #expect(DeviceHome.directory(in: ["LECTURE_DEVICE": "/d", "HOME": "/h"]) == "/d")
        #expect(DeviceHome.directory(in: ["LECTURE_DEVICE": "", "HOME": "/h"]) == "/h/.local/share/lecturekit-device")
        #expect(DeviceHome.directory(in: ["XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x/lecturekit-device")
        #expect(DeviceHome.directory(in: ["XDG_DATA_HOME": "x", "HOME": "/h"]) == "/h/.local/share/lecturekit-device")
        #expect(DeviceHome.directory(in: ["HOME": "h"]) == nil)
    }
}

/// The anchors of stores.
@Suite struct AnchorTests {
    private static let store = "0b0e7f5e-6a55-4a53-9a1c-1f5e0a1d2c3b"
    private let place: TemporaryDirectory
    private let home: DeviceHome

    init() throws {
        place = try TemporaryDirectory()
        home = DeviceHome(directory: place.file("device"))
    }

    private func keeper() throws -> any AnchorKeeper { try home.anchors(home.key()) }

    private func anchor(_ revision: Int64, _ byte: UInt8 = 7, proven: Int64? = nil, estimate: Int64? = 5)
        -> LedgerAnchor
    {
        LedgerAnchor(
            revision: revision, code: [UInt8](repeating: byte, count: 32),
            proven: proven.map { Timestamp(milliseconds: $0) }, estimate: estimate.map { Timestamp(milliseconds: $0) })
    }

    private var file: URL { URL(filePath: place.file("device/anchors/\(Self.store)")) }

    @Test func `A stored anchor is read back`() throws {
        #expect(try keeper().anchor(of: Self.store) == nil)
        for anchor in [
            anchor(1), anchor(2, proven: -1, estimate: nil), anchor(3, proven: .max, estimate: .min),
            anchor(.max, proven: 0, estimate: 0),
        ] {
            try keeper().keep(anchor, of: Self.store)
            #expect(try keeper().anchor(of: Self.store) == anchor)
        }
        #expect(try keeper().anchor(of: "ffffffff-6a55-4a53-9a1c-1f5e0a1d2c3b") == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `the newest times are those of all stores, of intact files only`() throws {
        let keeper = try keeper()
        #expect(try keeper.newestTimes() == AnchoredTimes())
        try keeper.keep(.beforeFirst([UInt8](repeating: 0, count: 32)), of: "00000000-6a55-4a53-9a1c-1f5e0a1d2c3b")
        try keeper.keep(anchor(1, proven: 10, estimate: 20), of: Self.store)
        try keeper.keep(anchor(1, proven: 9, estimate: 30), of: "aaaaaaaa-6a55-4a53-9a1c-1f5e0a1d2c3b")
        let copy = place.file("device/anchors/bbbbbbbb-6a55-4a53-9a1c-1f5e0a1d2c3b")
        try keeper.keep(anchor(1, proven: 99, estimate: 99), of: "cccccccc-6a55-4a53-9a1c-1f5e0a1d2c3b")
        // Under another name its code does not match.
        try FileManager.default.moveItem(
            atPath: place.file("device/anchors/cccccccc-6a55-4a53-9a1c-1f5e0a1d2c3b"), toPath: copy)
        let times = AnchoredTimes(proven: Timestamp(milliseconds: 10), estimate: Timestamp(milliseconds: 30))
        #expect(try keeper.newestTimes() == times)
        #expect(keeper.obstacle(of: Self.store) == nil)
    }

    @Test func `An older anchor never replaces a newer one`() throws {
        let keeper = try keeper()
        try keeper.keep(anchor(5, 1), of: Self.store)
        try keeper.keep(anchor(4, 2), of: Self.store)
        #expect(try keeper.anchor(of: Self.store) == anchor(5, 1))
        try keeper.keep(anchor(5, 3), of: Self.store)
        #expect(try keeper.anchor(of: Self.store) == anchor(5, 3))
    }

    @Test func `A changed, torn, moved or foreign file is not an anchor`() throws {
        try keeper().keep(anchor(9), of: Self.store)
        let whole = try Data(contentsOf: file)
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x40
            try changed.write(to: file)
            #expect(try keeper().anchor(of: Self.store) == nil, "byte \(index)")
        }
        for count in [0, 1, whole.count - 1] {
            try whole.prefix(count).write(to: file)
            #expect(try keeper().anchor(of: Self.store) == nil)
        }
        try whole.write(to: file)
        #expect(try keeper().anchor(of: Self.store) == anchor(9))
        let other = "1b0e7f5e-6a55-4a53-9a1c-1f5e0a1d2c3b"
        try FileManager.default.copyItem(atPath: file.path, toPath: place.file("device/anchors/\(other)"))
        #expect(try keeper().anchor(of: other) == nil)
        let foreign = DeviceHome(directory: place.file("foreign"))
        try foreign.anchors(foreign.key()).keep(anchor(9), of: Self.store)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(atPath: place.file("foreign/anchors/\(Self.store)"), toPath: file.path)
        #expect(try keeper().anchor(of: Self.store) == nil)
        // A damaged anchor can be replaced.
        try keeper().keep(anchor(1), of: Self.store)
        #expect(try keeper().anchor(of: Self.store) == anchor(1))
    }

    @Test(arguments: ["", "..", "a/b", "0b0e7f5e\u{0}", "device.key", String(repeating: "a", count: 65)])
    func `A name that is not a UUID leads nowhere`(name: String) throws {
        let keeper = try keeper()
        #expect(throws: LectureError(.parameter)) { try keeper.anchor(of: name) }
        #expect(throws: LectureError(.parameter)) { try keeper.keep(anchor(1), of: name) }
    }

    @Test func `Of many writers the newest anchor wins`() async throws {
        // Each opened separately, as in separate processes.
        let keepers = try (0..<4).map { _ in try keeper() }
        let anchors = (1...40).map { anchor(Int64($0), UInt8($0)) }
        let failures = Guarded<[String]>([])
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 40) { index in
                    // A permutation of the revisions.
                    let anchor = anchors[index * 17 % 40]
                    do { try keepers[index % 4].keep(anchor, of: Self.store) } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
                continuation.resume()
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try keeper().anchor(of: Self.store) == anchors.last)
    }
}
