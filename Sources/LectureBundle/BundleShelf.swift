package import LectureCrypto
import LectureFormats
package import LectureKit
package import LectureModel

/// The lectures of a bundle under the URLs of their sources: downloads take them from here. So an import has the order
/// of writes, the proofs, the limits and the recovery of a download.
///
/// Every chunk is compared with its digest and opened before any of its bytes is passed on.
package final class BundleShelf: NearbyBytes {
    /// A file of a lecture.
    private struct Place {
        let lecture: Int
        let file: Int
        let source: BundledDetails.Source
    }

    /// What to ask the library for, in the order of the bundle.
    package let requests: [DownloadRequest]
    private let bundle: BundleReader
    private let key: BundleKey
    private let places: [String: Place]
    private let absent: Set<String>
    private let errors = Guarded<[LectureError]>([])

    /// Reads the details of lectures.
    ///
    /// - Parameters:
    ///   - bundle: whose signer is trusted.
    ///   - key: of the bundle.
    ///   - keys: the lectures that are wanted; nil for all.
    /// - Throws: ``LectureError``: `bundleDamaged`, `bundleRefused`, `readFile`; `unknownContent` for a lecture that is
    ///   not in it.
    package init(_ bundle: BundleReader, key: BundleKey, only keys: Set<ContentKey>? = nil) throws(LectureError) {
        (self.bundle, self.key) = (bundle, key)
        var (requests, places, absent): ([DownloadRequest], [String: Place], Set<String>) = ([], [:], [])
        let lectures = bundle.contents.lectures
        if let other = keys?.subtracting(lectures.map(\.key)).min() {
            throw LectureError(.unknownContent, detail: other.text, cause: "the bundle does not have it")
        }
        for (index, lecture) in lectures.enumerated() where keys?.contains(lecture.key) ?? true {
            let details = try Self.details(of: index, bundle, key)
            let files = lecture.files.enumerated().filter { ![.details, .description].contains($0.element.role) }
            guard files.count == details.sources.count else {
                throw .refusedBundle("the details of a lecture name other files")
            }
            for ((file, _), source) in zip(files, details.sources) where places[source.url] == nil {
                places[source.url] = Place(lecture: index, file: file, source: source)
            }
            if let file = lecture.files.firstIndex(where: { $0.role == .description }) {
                let source = BundledDetails.Source(url: details.url, mediaType: nil, entityTag: nil, lastModified: nil)
                places[details.url] = Place(lecture: index, file: file, source: source)
            }
            absent.formUnion(details.absentURLs)
            requests.append(lecture.request(url: details.url))
        }
        (self.requests, self.places, self.absent) = (requests, places, absent)
    }

    private static func details(
        of lecture: Int, _ bundle: BundleReader, _ key: BundleKey
    ) throws(LectureError) -> BundledDetails {
        var bytes: [UInt8] = []
        try unsafe bundle.open(lecture: lecture, file: 0, key: key, from: 0) { piece in
            unsafe bytes.append(contentsOf: piece)
            return true
        }
        return try BundledDetails(bytes)
    }

    /// What could not be read, each once: damaged chunks by name, and a medium that fails.
    package var failures: [LectureError] { errors.withLock(\.self) }

    /// What is at hand for a URL.
    package func answer(to url: String) -> NearbyAnswer? {
        guard let place = places[url] else { return absent.contains(url) ? .missing : nil }
        let bundled = bundle.contents.lectures[place.lecture].files[place.file]
        let read: NearbyFile.Read = { [bundle, key, errors] offset, body throws(LectureError) in
            do throws(LectureError) {
                try unsafe bundle.open(lecture: place.lecture, file: place.file, key: key, from: offset, body)
            } catch {
                errors.withLock { errors in
                    let isKnown = errors.contains {
                        ($0.code, $0.detail, $0.cause) == (error.code, error.detail, error.cause)
                    }
                    if !isKnown { errors.append(error) }
                }
                throw error
            }
        }
        let source = place.source
        let file = unsafe NearbyFile(
            count: bundled.count, mediaType: source.mediaType, entityTag: source.entityTag,
            lastModified: source.lastModified, read: read)
        return bundled.role == .description ? .description(file) : .file(file)
    }
}

extension BundledLecture {
    fileprivate func request(url: String) -> DownloadRequest {
        func known(_ text: String) -> String? { text.isEmpty ? nil : text }
        var request = DownloadRequest(url: url)
        request.key = key
        request.sha256 = sha256
        (request.title, request.course) = (known(title), known(course))
        (request.teacher, request.folder) = (known(teacher), known(folder))
        return request
    }
}

extension BundleReader {
    /// Opens a file from a place on.
    ///
    /// - Parameters:
    ///   - lecture: the index of its lecture.
    ///   - file: its index in the lecture.
    ///   - key: of the bundle.
    ///   - offset: the first byte, unsealed.
    ///   - body: gets the bytes in order; returns false to end.
    /// - Throws: ``LectureError``: `bundleDamaged`, also where a chunk that was signed does not open; `readFile`.
    package func open(
        lecture: Int, file: Int, key: BundleKey, from offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(LectureError) {
        let owner = contents.lectures[lecture]
        guard let layout = owner.files[file].layout, let start = Int(exactly: offset) else { return }
        let head = try chunk(lecture: lecture, file: file, chunk: 0)
        let header = Array(head.prefix(SealedFormat.headerBytes))
        let opener = try key.cipher(for: owner.key).opener(header: header)
        var plain = [UInt8](repeating: 0, count: SealedFormat.plaintextBytes)
        for segment in layout.segment(at: start)..<layout.segmentCount {
            let box =
                segment == 0
                ? Array(head.dropFirst(header.count))
                : try chunk(
                    lecture: lecture, file: file, chunk: segment)
            let range = layout.plaintextRange(ofSegment: segment)
            let result: Result<Bool, LectureError> = unsafe plain.withUnsafeMutableBytes { buffer in
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
                let skipped = max(0, start - range.lowerBound)
                return unsafe box.withUnsafeBytes { sealed in
                    do throws(LectureError) {
                        try unsafe opener.open(
                            segment: segment, isLast: segment == layout.lastSegment, sealed, into: target)
                        return .success(unsafe body(UnsafeRawBufferPointer(rebasing: target[skipped...])))
                    } catch { return .failure(error) }
                }
            }
            switch result {
            case .success(let wantsMore): if !wantsMore { return }
            case .failure(let error):
                guard error.code == .damaged else { throw error }
                throw LectureError(
                    .bundleDamaged, detail: owner.key.text, cause: "chunk \(segment) was not sealed for this bundle")
            }
        }
    }
}
