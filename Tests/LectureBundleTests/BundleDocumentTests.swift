import Foundation
import LectureBundle
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Manifest, catalogue, details and inventory as texts.
@Suite struct BundleDocumentTests {
    static let digest = String(repeating: "ab", count: 32)
    static let manifest =
        #"{"bundle":1,"catalogue":{"bytes":9,"sha256":"\#(digest)"},"created_ms":5,"for":[{"key":"j","kid":"t"}],"#
        + #""lectures":1,"part_bytes":4294967296,"signer":{"crv":"Ed25519","kty":"OKP","x":"AA"}}"#
    static let line =
        #"{"course":"C","digests":"\#(digest)","files":[{"bytes":5,"role":"details"},{"bytes":7,"role":"media"}],"#
        + #""key":"k","licensed":true,"sha256":"\#(digest)","title":"T"}"#
    static let details =
        #"{"absent":["http://h/g"],"files":[{"etag":"\"e\"","media_type":"a/b","url":"http://h/m"}],"#
        + #""url":"http://h/m"}"#

    /// A text in which something is replaced, which must be there.
    static func replaced(_ text: String, _ old: String, _ new: String) throws -> [UInt8] {
        try #require(text.contains(old), "\(old)")
        return Array(text.replacing(old, with: new, maxReplacements: 1).utf8)
    }

    @Test func `each text has one form, and reads back as written`() throws {
        #expect(try BundleManifest(Array(Self.manifest.utf8)).bytes == Array(Self.manifest.utf8))
        #expect(try BundledLecture(line: Array(Self.line.utf8)).line == Array(Self.line.utf8) + [0x0A])
        #expect(try BundledDetails(Array(Self.details.utf8)).bytes == Array(Self.details.utf8))
    }

    @Test(arguments: [
        (#""bundle":1"#, #""bundle":0"#), (#""bundle":1"#, #""bundle":"1""#), (#""bundle":1,"#, ""),
        (#""bytes":9"#, #""bytes":-1"#), (#""bytes":9"#, #""bytes":99999999999"#), (#""bytes":9"#, #""bytes":9.5"#),
        (digest, "ab"), (digest, String(repeating: "AB", count: 32)), (digest, String(repeating: "zz", count: 32)),
        (#""created_ms":5"#, #""created_ms":-5"#), (#""created_ms":5,"#, ""), (#""kid":"t""#, #""kid":"""#),
        (#"[{"key":"j","kid":"t"}]"#, #"[]"#), (#"[{"key":"j","kid":"t"}]"#, #"[7]"#),
        (#"[{"key":"j","kid":"t"}]"#, #"[{"key":"j","kid":"t"},{"key":"k","kid":"t"}]"#),
        (#"{"key":"j","kid":"t"}"#, #"{"key":"j"}"#), (#""lectures":1"#, #""lectures":20001"#),
        (#""lectures":1"#, #""lectures":1,"lectures":1"#), ("4294967296", "4294967297"), ("4294967296", "1048577"),
        ("4294967296", "8589934592"), ("4294967296", "0"), (#","signer":{"#, #","signer":7,"z":{"#),
        (#"{"bundle""#, #"{"a":1,"bundle""#), (#"{"bundle""#, #"{ "bundle""#), (#""AA"}}"#, #""AA"}} "#),
        (#""crv":"Ed25519","kty":"OKP""#, #""kty":"OKP","crv":"Ed25519""#), (#"{"bundle""#, "\u{FEFF}{\"bundle\""),
    ])
    func `a manifest with a fault is refused`(old: String, new: String) throws {
        let bytes = try Self.replaced(Self.manifest, old, new)
        #expect(throws: LectureError(.bundleRefused), "\(new)") { try BundleManifest(bytes) }
    }

    @Test func `a manifest of a later version says so`() throws {
        #expect(throws: LectureError(.bundleNewer)) {
            try BundleManifest(try Self.replaced(Self.manifest, #""bundle":1"#, #""bundle":2"#))
        }
    }

    @Test(arguments: [
        (#""key":"k","#, ""), (#""key":"k""#, #""key":"\u0007""#), (#""key":"k""#, #""key":"""#),
        (#""title":"T""#, #""title":"""#), (#""title":"T""#, #""title":null"#), (#""title":"T""#, #""title":"\u0000""#),
        (#""licensed":true"#, #""licensed":false"#), (#""licensed":true"#, #""licensed":1"#),
        (#"{"bytes":5,"role":"details"},"#, ""),
        (#","files":[{"bytes":5,"role":"details"}"#, #","files":[{"bytes":5,"role":"media"}"#),
        (#""role":"media""#, #""role":"segment""#), (#""role":"media""#, #""role":"details""#),
        (#""role":"media""#, #""role":"subtitle""#), (#""bytes":7"#, #""bytes":-7"#),
        (#""bytes":7"#, #""bytes":1125899906842624"#), (#""bytes":5"#, #""bytes":9000000"#),
        (#""title":"T"}"#, #""title":"T","unknown":1}"#), (#"{"course""#, #"{"a":1,"course""#), (digest, "00"),
    ])
    func `a line of the catalogue with a fault is refused`(old: String, new: String) throws {
        let bytes = try Self.replaced(Self.line, old, new)
        #expect(throws: LectureError(.bundleRefused), "\(new)") { try BundledLecture(line: bytes) }
    }

    @Test(arguments: [
        (#""url":"http://h/m"}"#, #""url":""}"#), (#""etag":"\"e\"""#, #""etag":7"#), (#"["http://h/g"]"#, #"[""]"#),
        (#"["http://h/g"]"#, "[]"), (#"{"absent""#, #"{"a":0,"absent""#), (#","url":"http://h/m"}]"#, "}]"),
    ])
    func `details with a fault are refused`(old: String, new: String) throws {
        let bytes = try Self.replaced(Self.details, old, new)
        #expect(throws: LectureError(.bundleRefused), "\(new)") { try BundledDetails(bytes) }
    }

    @Test func `a catalogue must be whole and as signed`() throws {
        let manifest = try BundleManifest(Array(Self.manifest.utf8))
        let line = Array(Self.line.utf8) + [0x0A]
        #expect(try BundleContents(catalogue: line, manifest).lectures.count == 1)
        for bytes in [Array(line.dropLast()), line + line, [], [0x0A], line + [0x0A], [0x0A] + line] {
            #expect(throws: LectureError(.bundleRefused)) { try BundleContents(catalogue: bytes, manifest) }
        }
        let none = try BundleManifest(try Self.replaced(Self.manifest, #""lectures":1"#, #""lectures":0"#))
        #expect(try BundleContents(catalogue: [], none).expected.isEmpty)
    }

    @Test(arguments: [0, 1, 1_048_520, 1_048_521, 2_097_080, 2_097_081, 10_000_000, 5 << 30])
    func `every chunk has one place, and the places cover the archive`(count: Int) throws {
        let text = try Self.replaced(Self.line, #""bytes":7"#, #""bytes":\#(count)"#)
        let part: UInt64 = count > 1 << 30 ? 1 << 32 : 1 << 20
        let manifest = try BundleManifest(try Self.replaced(Self.manifest, "4294967296", "\(part)"))
        let contents = try BundleContents(catalogue: text + [0x0A], manifest)
        let lecture = contents.lectures[0]
        var (filled, digests) = ([Int: UInt64](), Set<Int>())
        for file in lecture.files.indices {
            let layout = try #require(lecture.files[file].layout)
            #expect(layout.segmentCount == lecture.files[file].chunkCount)
            for chunk in 0..<lecture.files[file].chunkCount {
                let place = try #require(contents.place(lecture: 0, file: file, chunk: chunk))
                // In order and without a gap.
                #expect(place.range.lowerBound == filled[place.index, default: 0])
                filled[place.index] = place.range.upperBound
                #expect(digests.insert(place.digest).inserted)
            }
            #expect(contents.place(lecture: 0, file: file, chunk: layout.segmentCount) == nil)
        }
        let files = contents.expected
        #expect(digests == Set(0..<lecture.chunkCount) && contents.digestsIndex(lecture: 0) == files.count - 1)
        for (index, file) in files.dropLast().enumerated() {
            #expect(filled[index] == file.count && file.count <= part, "\(file.name)")
        }
        #expect(files.last?.count == UInt64(32 * lecture.chunkCount))
        #expect(
            contents.place(lecture: 1, file: 0, chunk: 0) == nil && contents.place(lecture: 0, file: 9, chunk: 0) == nil
        )
    }

    @Test func `an inventory knows what is playable with its digest`() throws {
        var inventory = BundleInventory()
        func add(_ text: String) throws { try inventory.add(Array(text.utf8)) }
        try add(#"{"record":"content","key":"a","playable":true,"sha256":"\#(Self.digest)"}"#)
        try add(#"{"record":"content","key":"b","playable":false,"sha256":"\#(Self.digest)"}"#)
        try add(#"{"record":"content","key":"c","playable":true,"outdated":true,"sha256":"\#(Self.digest)"}"#)
        try add(#"{"record":"content","key":"d","playable":true}"#)
        try add(#"{"event":"summary"}"#)
        let sha256 = [UInt8](repeating: 0xAB, count: 32)
        let known = try ["a", "b", "c", "d", "e"].map { inventory.has(try ContentKey($0), sha256: sha256) }
        #expect(known == [true, false, false, false, false])
        #expect(try ["a", "d"].map { inventory.knows(try ContentKey($0)) } == [true, false])
        #expect(!inventory.has(try ContentKey("a"), sha256: [UInt8](repeating: 0, count: 32)))
        #expect(throws: LectureError(.json)) { try add("[]") }
        #expect(throws: LectureError(.json)) { try add("{") }
    }

    @Test func `a device's key is read as it is printed, and nothing else`() throws {
        let directory = try TemporaryDirectory()
        let home = DeviceHome(directory: directory.file("device"))
        let identity = try home.identity()
        let wrapped = #"{"record":"device","public_jwk":\#(identity.publicJWK)}"#
        let path = directory.file("key")
        for text in [identity.publicJWK, wrapped, #"{"keys":[\#(identity.publicJWK)]}"#] {
            _ = try directory.write(Array(text.utf8), to: "key")
            #expect(try BundleFiles.recipient(path).thumbprint == identity.playerID)
            #expect(try BundleFiles.trusted(path) == [identity.playerID])
        }
        for text in [
            "", "7", "{}", #"{"keys":[]}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
            identity.publicJWK.replacing(#""x":""#, with: #""d":"AA","x":""#),
            identity.publicJWK.replacing(#""kid":""#, with: #""kid":"z"#),
            #"{"keys":[\#(identity.publicJWK),\#(identity.publicJWK)]}"#,
        ] {
            _ = try directory.write(Array(text.utf8), to: "key")
            #expect(throws: LectureError(.configuration), "\(text)") { try BundleFiles.recipient(path) }
        }
    }
}
