import LectureBundle
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// Each limit: what is at it is read, and what is one beyond is not.
@Suite struct BundleLimitTests {
    private static let digest = [UInt8](repeating: 0xAB, count: 32)
    private static let medium = BundledFile(role: .media, count: 7)

    private static func manifest(
        lectures: Int = 1, catalogue: UInt64 = 9, created: Int64 = 5, part: UInt64 = 1 << 32, devices: Int = 1,
        kid: Int = 4, key: Int = 1
    ) -> [UInt8] {
        // The last digits number the devices.
        let recipients = (0..<devices).map { number in
            let name = String(repeating: "0", count: kid) + String(number)
            return BundleManifest.Recipient(
                thumbprint: String(name.suffix(kid)), key: String(repeating: "j", count: key))
        }
        return BundleManifest(
            created: Timestamp(milliseconds: created), lectureCount: lectures, catalogueBytes: catalogue,
            catalogueDigest: digest, partBytes: part, recipients: recipients,
            signer: .object([JSONMember("kty", .string("OKP"))])
        ).bytes
    }

    /// Whether a document is read; a refusal must be the one of bundles.
    private static func reads(_ read: () throws(LectureError) -> Void) -> Bool {
        do throws(LectureError) {
            try read()
            return true
        } catch {
            #expect(error.code == .bundleRefused)
            return false
        }
    }

    @Test(
        arguments: [
            ("lectures", manifest(lectures: 20_000), manifest(lectures: 20_001)),
            ("no lecture", manifest(lectures: 0), manifest(lectures: -1)),
            ("catalogue", manifest(catalogue: 16 << 20), manifest(catalogue: 16 << 20 + 1)),
            ("no catalogue", manifest(catalogue: 0), manifest(catalogue: .max)),
            ("the year 9999", manifest(created: 253_402_300_799_999), manifest(created: 253_402_300_800_000)),
            ("the year 1970", manifest(created: 0), manifest(created: -1)),
            ("the longest part", manifest(part: 1 << 32), manifest(part: 1 << 32 + 1 << 20)),
            ("the shortest part", manifest(part: 1 << 20), manifest(part: 1 << 19)),
            ("whole chunks", manifest(part: 3 << 20), manifest(part: 3 << 20 - 1)),
            ("devices", manifest(devices: 1000), manifest(devices: 1001)),
            ("no device", manifest(devices: 0), manifest(devices: 2, kid: 0)),
            ("names of devices", manifest(kid: 64), manifest(kid: 65)),
            ("keys", manifest(key: 4096), manifest(key: 4097)), ("a short key", manifest(key: 1), manifest(key: 0)),
            ("two devices", manifest(devices: 10, kid: 1), manifest(devices: 11, kid: 1)),
        ] as [(String, [UInt8], [UInt8])])
    func `a manifest at a limit is read, one beyond is refused`(what: String, at: [UInt8], beyond: [UInt8]) throws {
        #expect(try BundleManifest(at).bytes == at, "\(what)")
        #expect(!Self.reads { () throws(LectureError) in _ = try BundleManifest(beyond) }, "beyond: \(what)")
    }

    private static func lecture(
        _ files: [BundledFile] = [], key: Int = 1, _ change: (inout BundledLecture) -> Void = { _ in }
    ) -> [UInt8] {
        var lecture = BundledLecture(key: ContentKey(stored: String(repeating: "k", count: key)))
        lecture.files = [BundledFile(role: .details, count: 5)] + (files.isEmpty ? [medium] : files)
        (lecture.sha256, lecture.digestOfDigests) = (digest, digest)
        change(&lecture)
        return lecture.line.dropLast()
    }

    private static func subtitles(_ count: Int) -> [BundledFile] {
        [medium] + [BundledFile](repeating: BundledFile(role: .subtitle, count: 1), count: count)
    }

    /// Media of so many chunks, the last one full.
    private static func media(chunks: UInt64) -> BundledFile {
        BundledFile(role: .media, count: chunks * UInt64(SealedFormat.plaintextBytes) - 40)
    }

    private static let long = String(repeating: "t", count: 4096)

    @Test(
        arguments: [
            ("key", lecture(key: 512), lecture(key: 513)), ("a key", lecture(key: 1), lecture(key: 0)),
            ("title", lecture { $0.title = long }, lecture { $0.title = long + "t" }),
            ("course", lecture { $0.course = long }, lecture { $0.course = long + "t" }),
            ("teacher", lecture { $0.teacher = long }, lecture { $0.teacher = long + "t" }),
            ("folder", lecture { $0.folder = long }, lecture { $0.folder = long + "t" }),
            (
                "bytes of letters", lecture { $0.title = "é" + long.dropLast(2) },
                lecture { $0.title = "é" + long.dropLast() }
            ),
            ("files", lecture(subtitles(62)), lecture(subtitles(63))),
            ("digest", lecture(), lecture { $0.sha256.append(0) }),
            ("digests", lecture(), lecture { $0.digestOfDigests.removeLast() }),
            (
                "details", lecture { $0.files[0] = BundledFile(role: .details, count: 2 << 20) },
                lecture { $0.files[0] = BundledFile(role: .details, count: 2 << 20 + 1) }
            ),
            (
                "description", lecture([BundledFile(role: .description, count: 2 << 20), medium]),
                lecture([BundledFile(role: .description, count: 2 << 20 + 1), medium])
            ),
            (
                "no limit of a picture", lecture([medium, BundledFile(role: .snapshot, count: 3 << 20)]),
                lecture([medium, BundledFile(role: .snapshot, count: 1), BundledFile(role: .snapshot, count: 1)])
            ),
            ("chunks", lecture([media(chunks: 524_287)]), lecture([media(chunks: 524_288)])),
            (
                "chunks of all files",
                lecture([media(chunks: 524_286), BundledFile(role: .thumbnail, count: 1_048_520)]),
                lecture([media(chunks: 524_286), BundledFile(role: .thumbnail, count: 1_048_521)])
            ),
            (
                "one of a kind", lecture([medium, BundledFile(role: .thumbnail, count: 0)]),
                lecture([medium, BundledFile(role: .thumbnail, count: 0), BundledFile(role: .thumbnail, count: 0)])
            ),
            ("details first", lecture([medium]), lecture { $0.files.reverse() }),
            ("media", lecture([medium]), lecture([BundledFile(role: .subtitle, count: 7)])),
        ] as [(String, [UInt8], [UInt8])])
    func `a lecture at a limit is read, one beyond is refused`(what: String, at: [UInt8], beyond: [UInt8]) throws {
        #expect(try BundledLecture(line: at).line.dropLast() == at[...], "\(what)")
        #expect(!Self.reads { () throws(LectureError) in _ = try BundledLecture(line: beyond) }, "beyond: \(what)")
    }

    @Test func `details at a limit are read, one beyond are refused`() {
        func reads(
            url: Int = 8, source: Int = 8, type: Int = 1, tag: Int = 1, date: Int = 1, sources: Int = 1, absent: Int = 1
        ) -> Bool {
            func text(_ count: Int) -> String { String(repeating: "u", count: count) }
            let one = BundledDetails.Source(
                url: text(source), mediaType: text(type), entityTag: text(tag), lastModified: text(date))
            let details = BundledDetails(
                url: text(url), sources: [BundledDetails.Source](repeating: one, count: sources),
                absentURLs: [String](repeating: text(9), count: absent))
            return Self.reads { () throws(LectureError) in
                let read = try BundledDetails(details.bytes)
                #expect(read == details)
            }
        }
        #expect(reads(url: 65_536) && !reads(url: 65_537) && !reads(url: 0))
        #expect(reads(source: 65_536) && !reads(source: 65_537) && !reads(source: 0))
        #expect(reads(type: 1024) && !reads(type: 1025) && reads(tag: 4096) && !reads(tag: 4097))
        #expect(reads(date: 256) && !reads(date: 257))
        #expect(reads(sources: 64) && !reads(sources: 65) && !reads(sources: 0))
        #expect(reads(absent: 64) && !reads(absent: 65) && reads(absent: 0))
    }

    // MARK: Archives

    private static func contents(
        _ lectures: [[BundledFile]], part: UInt64 = 1 << 32, _ change: (inout BundleLimits) -> Void = { _ in }
    ) throws(LectureError) -> BundleContents {
        var (limits, catalogue) = (BundleLimits(), [UInt8]())
        change(&limits)
        for (number, files) in lectures.enumerated() { catalogue += lecture(files, key: number + 1) + [0x0A] }
        let manifest = try BundleManifest(manifest(lectures: lectures.count, part: part))
        return try BundleContents(catalogue: catalogue, manifest, limits: limits)
    }

    @Test func `parts and files of an archive are counted before they are listed`() {
        func reads(_ files: [BundledFile], part: UInt64, entries: Int = 250_000, lectures: Int = 1) -> Bool {
            Self.reads { () throws(LectureError) in
                let all = [[BundledFile]](repeating: files, count: lectures)
                let contents = try Self.contents(all, part: part) { $0.entries = entries }
                #expect(contents.expected.allSatisfy { BundleName($0.name.text) == $0.name })
            }
        }
        #expect(reads([Self.media(chunks: 1000)], part: 1 << 20) && !reads([Self.media(chunks: 1001)], part: 1 << 20))
        #expect(reads([Self.media(chunks: 2000)], part: 2 << 20) && !reads([Self.media(chunks: 2001)], part: 2 << 20))
        // Details, two parts of the media, the digests.
        let two = [Self.media(chunks: 2)]
        #expect(reads(two, part: 1 << 20, entries: 4) && !reads(two, part: 1 << 20, entries: 3))
        #expect(reads(two, part: 1 << 20, entries: 12, lectures: 3))
        #expect(!reads(two, part: 1 << 20, entries: 11, lectures: 3))
        #expect(reads(two, part: 2 << 20, entries: 9, lectures: 3))
    }

    /// Cuts a file byte range by byte range, without the arithmetic of the format.
    private static func model(_ count: UInt64, part: UInt64) -> [[UInt64]] {
        var (chunks, left): ([UInt64], UInt64) = ([], count)
        repeat {
            let header: UInt64 = chunks.isEmpty ? 40 : 0
            let text = min(left, 1_048_576 - 16 - header)
            chunks.append(header + text + 16)
            left -= text
        } while left > 0
        var parts: [[UInt64]] = [[]]
        for chunk in chunks {
            if parts[parts.count - 1].reduce(0, +) + chunk > part { parts.append([]) }
            parts[parts.count - 1].append(chunk)
        }
        return parts
    }

    private static let borders: [UInt64] = {
        var borders: Set<UInt64> = [0, 1, 2, 15, 16, 17, 39, 40, 41]
        for chunks in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16] as [UInt64] {
            // As plain bytes, as sealed ones, and as bytes of the archive.
            for border in [chunks << 20, chunks * 1_048_560 - 40, chunks * 1_048_560] {
                for offset in 0...2 as ClosedRange<UInt64> { borders.insert(border + offset - 1) }
            }
        }
        return borders.sorted()
    }()

    @Test(arguments: [1, 2, 3, 4, 7, 4096] as [UInt64])
    func `chunks and parts are those of the model at every border`(chunksOfPart: UInt64) throws {
        let part = chunksOfPart << 20
        for count in Self.borders {
            let files = [
                BundledFile(role: .media, count: count), BundledFile(role: .subtitle, count: count / 2),
                BundledFile(role: .subtitle, count: 0),
            ]
            let contents = try Self.contents([files, [Self.medium], files], part: part)
            var (names, counts): ([BundleName], [UInt64]) = ([], [])
            for (number, lecture) in contents.lectures.enumerated() {
                var digest = 0
                for (index, file) in lecture.files.enumerated() {
                    let model = Self.model(file.count, part: part)
                    #expect(file.chunkCount == model.joined().count && file.sealedCount == model.joined().reduce(0, +))
                    var chunk = 0
                    for (place, chunks) in model.enumerated() {
                        var start: UInt64 = 0
                        for length in chunks {
                            let found = try #require(contents.place(lecture: number, file: index, chunk: chunk))
                            #expect(found.index == names.count && found.digest == digest, "\(count), chunk \(chunk)")
                            #expect(found.range == start..<(start + length), "\(count), chunk \(chunk)")
                            (start, chunk, digest) = (start + length, chunk + 1, digest + 1)
                        }
                        names.append(.part(lecture: number + 1, file: index, part: place))
                        counts.append(start)
                    }
                    for outside in [-1, chunk, .max] {
                        #expect(contents.place(lecture: number, file: index, chunk: outside) == nil)
                    }
                }
                #expect(contents.digestsIndex(lecture: number) == names.count)
                names.append(.digests(lecture: number + 1))
                counts.append(UInt64(32 * digest))
            }
            #expect(contents.expected.map(\.name) == names && contents.expected.map(\.count) == counts, "\(count)")
            for outside in [-1, 3, .max] {
                #expect(contents.place(lecture: outside, file: 0, chunk: 0) == nil)
                #expect(contents.place(lecture: 0, file: outside == 3 ? 4 : outside, chunk: 0) == nil)
            }
        }
    }

    @Test func `names and numbers are one to one, and sort as they stand in the archive`() {
        var (names, texts): ([BundleName], Set<String>) = ([], [])
        for lecture in [1, 2, 9, 10, 99, 100, 19_999, 20_000, 999_999] {
            for file in [0, 1, 9, 10, 63, 99] {
                for part in [0, 1, 9, 10, 99, 100, 999] {
                    names.append(.part(lecture: lecture, file: file, part: part))
                }
            }
            names.append(.digests(lecture: lecture))
        }
        names += [.catalogue, .manifest]
        for name in names {
            #expect(BundleName(name.text) == name && texts.insert(name.text).inserted, "\(name.text)")
            #expect(name.text.utf8.allSatisfy { (0x61...0x7A).contains($0) || "0123456789./-".utf8.contains($0) })
        }
        #expect(names.map(\.text) == names.map(\.text).sorted())
        // A number that has more digits than its place is another name, or none.
        for name in [
            BundleName.part(lecture: 1_000_000, file: 0, part: 0), .part(lecture: 1, file: 100, part: 0),
            .part(lecture: 1, file: 0, part: 1000), .digests(lecture: 1_000_000), .digests(lecture: 0),
            .part(lecture: 0, file: 0, part: 0),
        ] {
            #expect(BundleName(name.text) == nil, "\(name.text)")
        }
    }

    // MARK: What the target has

    @Test(arguments: [
        (#"{"record":"content","key":"k","playable":true,"sha256":"D"}"#, true, true),
        (#" { "sha256" : "D", "playable": true, "key": "k", "record": "content", "more": [1] } "#, true, true),
        (#"{"record":"content","key":"K","playable":true,"sha256":"D"}"#, false, false),
        (#"{"record":"content","key":"k ","playable":true,"sha256":"D"}"#, false, false),
        (#"{"record":"Content","key":"k","playable":true,"sha256":"D"}"#, false, false),
        (#"{"record":"device","key":"k","playable":true,"sha256":"D"}"#, false, false),
        (#"{"key":"k","playable":true,"sha256":"D"}"#, false, false),
        (#"{"record":"content","key":"k","playable":"true","sha256":"D"}"#, false, false),
        (#"{"record":"content","key":"k","playable":1,"sha256":"D"}"#, false, false),
        (#"{"record":"content","key":"k","sha256":"D"}"#, false, false),
        (#"{"record":"content","key":7,"playable":true,"sha256":"D"}"#, false, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":null}"#, false, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":["D"]}"#, false, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":""}"#, true, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":"ab"}"#, true, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":"D00"}"#, true, false),
        (#"{"record":"content","key":"k","playable":true,"sha256":" D"}"#, true, false),
        (#"{"record":"content","key":"k","playable":true,"outdated":true,"sha256":"D"}"#, false, false),
        (#"{"event":"progress","key":"k","playable":true,"sha256":"D"}"#, false, false), ("{}", false, false),
    ])
    func `a line is about a lecture or about nothing`(line: String, knows: Bool, has: Bool) throws {
        var inventory = BundleInventory()
        try inventory.add(Array(line.replacing("D", with: BundleDocumentTests.digest).utf8))
        let key = try ContentKey("k")
        #expect(inventory.knows(key) == knows && inventory.has(key, sha256: Self.digest) == has)
        #expect(!inventory.has(key, sha256: Self.digest.dropLast()) && !inventory.has(key, sha256: Self.digest + [1]))
    }

    @Test func `the last line of a lecture counts, and a line that is no object changes nothing`() throws {
        func line(_ key: String, _ byte: String) -> [UInt8] {
            let digest = String(repeating: byte, count: 32)
            return Array(#"{"record":"content","key":"\#(key)","playable":true,"sha256":"\#(digest)"}"#.utf8)
        }
        var inventory = BundleInventory()
        for (key, byte) in [("a", "00"), ("b", "ab"), ("a", "ab"), ("b", "ff")] { try inventory.add(line(key, byte)) }
        let (first, second) = (try ContentKey("a"), try ContentKey("b"))
        #expect(inventory.has(first, sha256: Self.digest) && !inventory.has(second, sha256: Self.digest))
        #expect(inventory.has(second, sha256: [UInt8](repeating: 0xFF, count: 32)))
        // Texts that Swift takes for equal are two keys.
        try inventory.add(line("\u{E9}", "ab"))
        let (composed, decomposed) = (try ContentKey("\u{E9}"), try ContentKey("e\u{301}"))
        #expect(inventory.has(composed, sha256: Self.digest) && !inventory.knows(decomposed))
        let before = inventory
        var others = ["", " ", "null", "7", #""k""#, "[{}]", "{", "{}{}", "# list", "\u{0}"].map { Array($0.utf8) }
        others += [line("a", "00").dropLast(), [0xFF] + line("a", "00"), line("a", "00") + [0x7D]]
        for bytes in others {
            do {
                try inventory.add(bytes)
                Issue.record("\(bytes) was taken")
            } catch { #expect(error.code == .json && inventory == before, "\(bytes)") }
        }
    }
}
