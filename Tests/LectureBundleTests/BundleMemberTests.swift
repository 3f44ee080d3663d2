import LectureBundle
import LectureFormats
import LectureModel
import Testing

/// Every member of every document: missing, added, and of another type.
@Suite struct BundleMemberTests {
    /// A document and how it is read; the code of its refusal, nil when it is read.
    struct Document: CustomTestStringConvertible {
        let testDescription: String
        let text: String
        /// Members that may be missing, by their paths.
        let optional: Set<String>
        /// Objects that are judged elsewhere.
        let opaque: Set<String>
        let refusal: @Sendable ([UInt8]) -> LectureError.Code?
    }

    private static func code(_ read: () throws(LectureError) -> Void) -> LectureError.Code? {
        do throws(LectureError) {
            try read()
            return nil
        } catch { return error.code }
    }

    static let documents = [
        Document(
            testDescription: "manifest", text: BundleDocumentTests.manifest, optional: ["/for"], opaque: ["/signer"]
        ) { bytes in code { () throws(LectureError) in _ = try BundleManifest(bytes) } },
        Document(
            testDescription: "line",
            text: BundleDocumentTests.line.replacing(#""title":"T""#, with: #""teacher":"A","title":"T""#)
                .replacing(#""key""#, with: #""folder":"F","key""#),
            optional: ["/course", "/folder", "/licensed", "/teacher", "/title"], opaque: []
        ) { bytes in code { () throws(LectureError) in _ = try BundledLecture(line: bytes) } },
        Document(
            testDescription: "details",
            text: BundleDocumentTests.details.replacing(
                #""media_type""#, with: #""last_modified":"Sat, 01 Jan 2000 00:00:00 GMT","media_type""#),
            optional: ["/absent", "/files", "/files/0/etag", "/files/0/last_modified", "/files/0/media_type"],
            opaque: []
        ) { bytes in code { () throws(LectureError) in _ = try BundledDetails(bytes) } },
    ]

    /// A value of each type.
    private static let others: [JSONValue] = [
        .null, .bool(true), .bool(false), .integer(1), .string("x"), .string(""), .array([]), .array([.integer(1)]),
        .object([]), .object([JSONMember("x", .null)]),
    ]

    private static func kind(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .integer, .number: 2
        case .string: 3
        case .array: 4
        case .object: 5
        }
    }

    private struct Change {
        let path: String
        let what: String
        let value: JSONValue
        var isMissing: Bool { what == "missing" }
    }

    /// Every change of one place.
    private static func changes(_ value: JSONValue, _ path: String, _ opaque: Set<String>) -> [Change] {
        var changes = others.filter { kind($0) != kind(value) }
            .map { Change(path: path, what: "as \($0.text)", value: $0) }
        if opaque.contains(path) { return changes }
        switch value {
        case .object(let members):
            for (place, member) in members.enumerated() {
                let inner = "\(path)/\(member.name)"
                var fewer = members
                fewer.remove(at: place)
                changes.append(Change(path: inner, what: "missing", value: .object(fewer)))
                for change in Self.changes(member.value, inner, opaque) {
                    var changed = members
                    changed[place] = JSONMember(member.name, change.value)
                    changes.append(Change(path: change.path, what: change.what, value: .object(changed)))
                }
                // The same member under another spelling is an unknown one.
                for name in [member.name.uppercased(), member.name + " ", member.name + "\u{0}", "_" + member.name] {
                    let more = Change(
                        path: path, what: "with '\(name)'", value: .object(members + [JSONMember(name, member.value)]))
                    changes.append(more)
                }
            }
            for name in ["", "a", "é", "kty", "zzz"] {
                changes.append(
                    Change(path: path, what: "with '\(name)'", value: .object(members + [JSONMember(name, .null)])))
            }
        case .array(let elements):
            for (place, element) in elements.enumerated() {
                for change in Self.changes(element, "\(path)/\(place)", opaque) {
                    var changed = elements
                    changed[place] = change.value
                    changes.append(Change(path: change.path, what: change.what, value: .array(changed)))
                }
            }
            for other in others where elements.first.map({ kind(other) != kind($0) }) ?? true {
                changes.append(Change(path: path, what: "with \(other.text)", value: .array(elements + [other])))
            }
        default: break
        }
        return changes
    }

    @Test(arguments: documents)
    func `every member is there, is known, and has its type`(document: Document) throws {
        let bytes = Array(document.text.utf8)
        #expect(document.refusal(bytes) == nil, "as it is")
        let changes = Self.changes(try CanonicalJSON.object(bytes, "it"), "", document.opaque)
        var mayMiss: Set<String> = []
        for change in changes {
            let code = document.refusal(CanonicalJSON.bytes(change.value))
            if change.isMissing, code == nil { mayMiss.insert(change.path) }
            #expect(code == .bundleRefused || change.isMissing && code == nil, "\(change.path) \(change.what)")
        }
        #expect(mayMiss == document.optional && changes.count > 100)
    }

    @Test func `a signer's key has its required members and no others`() throws {
        let text = BundleDocumentTests.manifest
        for member in [#""kid":"t","kty""#, #""alg":"EdDSA","crv""#, #""a":[1.0,{}],"crv""#] {
            let name = String(member.suffix(5))
            let bytes = try BundleDocumentTests.replaced(text, name, member)
            let code = Self.code { () throws(LectureError) in _ = try BundleManifest(bytes) }
            #expect(code == .bundleRefused, "\(member)")
        }
        #expect(try BundleManifest(Array(text.utf8)).signer.members?.map(\.name) == ["crv", "kty", "x"])
    }

    @Test(arguments: documents)
    func `members in any other order are refused`(document: Document) throws {
        let members = try #require(try CanonicalJSON.object(Array(document.text.utf8), "it").members)
        var count = 0
        for first in members.indices {
            for second in members.indices where second > first {
                var swapped = members
                swapped.swapAt(first, second)
                #expect(document.refusal(Array(JSONValue.object(swapped).text.utf8)) == .bundleRefused)
                count += 1
            }
        }
        #expect(count == members.count * (members.count - 1) / 2 && count > 0)
    }

    @Test(arguments: [
        ("0", LectureError.Code.bundleRefused), ("-1", .bundleRefused), ("-9223372036854775808", .bundleRefused),
        ("2", .bundleNewer), ("9223372036854775807", .bundleNewer), ("9223372036854775808", .bundleRefused),
        ("2.0", .bundleRefused), ("02", .bundleRefused), ("2e0", .bundleRefused), (#""2""#, .bundleRefused),
        ("[2]", .bundleRefused), ("null", .bundleRefused), ("true", .bundleRefused),
    ])
    func `a version is older, newer, or none`(version: String, code: LectureError.Code) throws {
        let text = BundleDocumentTests.manifest
        let bytes = try BundleDocumentTests.replaced(text, #""bundle":1"#, #""bundle":\#(version)"#)
        #expect(throws: LectureError(code)) { try BundleManifest(bytes) }
        // A later version may have any other members, but no other form.
        let bare = Array(#"{"bundle":\#(version),"new":{"x":[]}}"#.utf8)
        #expect(throws: LectureError(code)) { try BundleManifest(bare) }
        #expect(throws: LectureError(.bundleRefused)) { try BundleManifest([0x20] + bare) }
        #expect(throws: LectureError(.bundleRefused)) { try BundleManifest(Array(#"{"Bundle":\#(version)}"#.utf8)) }
    }

    @Test(
        arguments: [
            ([0], nil), ([1], nil), ([0, 0], "twice"), ([0, 1, 0], "twice"), ([0, 2], nil), ([2, 3], nil),
            ([0, 1, 2, 3], nil), ([3, 2, 1, 0], nil), ([2, 2], "twice"),
        ] as [([Int], String?)])
    func `a catalogue has each lecture once, as many as were signed`(order: [Int], cause: String?) throws {
        // The last two are one letter for people, and two keys.
        let lines = ["a", "A", "\u{E9}", "e\u{301}"].map { key in
            Array(BundleDocumentTests.line.replacing(#""key":"k""#, with: #""key":"\#(key)""#).utf8) + [0x0A]
        }
        let catalogue = order.flatMap { lines[$0] }
        for count in 0...5 {
            let bytes = try BundleDocumentTests.replaced(
                BundleDocumentTests.manifest, #""lectures":1"#, #""lectures":\#(count)"#)
            let manifest = try BundleManifest(bytes)
            let expected = count < order.count ? "more" : count > order.count ? "fewer" : cause
            do {
                let contents = try BundleContents(catalogue: catalogue, manifest)
                #expect(expected == nil && contents.lectures.map { Array($0.line) } == order.map { lines[$0] })
            } catch {
                #expect(error.code == .bundleRefused && error.cause.contains(expected ?? "none"), "\(error.cause)")
            }
        }
        // Line ends of other kinds, and lines that are joined.
        let manifest = try BundleManifest(
            try BundleDocumentTests.replaced(BundleDocumentTests.manifest, #""lectures":1"#, #""lectures":2"#))
        let (one, two) = (Array(lines[0].dropLast()), Array(lines[1].dropLast()))
        for between in [[0x0D, 0x0A], [0x0D], [], [0x0A, 0x0A], [0x0A, 0x20], [0x20, 0x0A], [0x2C], [0], [0x0B]]
            as [[UInt8]]
        {
            #expect(throws: LectureError(.bundleRefused), "\(between)") {
                try BundleContents(catalogue: one + between + two + [0x0A], manifest)
            }
        }
        #expect(try BundleContents(catalogue: one + [0x0A] + two + [0x0A], manifest).lectures.count == 2)
    }
}
