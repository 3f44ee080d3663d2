package import LectureCrypto
import LectureFormats
package import LectureModel

/// What the process that joins recordings is ordered to do: through its standard input, because every user of the
/// machine can read command lines. The first 32 bytes are the content key, the rest is one JSON object.
package struct JoinOrder: Sendable {
    /// The lecture's key, which the sealed file is bound to.
    package let content: String
    /// Where the lecture is written.
    package let directory: String
    /// The name of the sealed file there.
    package let name: String
    /// The recordings, in order.
    package let inputs: [String]
    /// The content key, 32 bytes.
    package let key: SecretBytes

    /// Creates an order.
    ///
    /// - Parameters:
    ///   - content: the lecture's key.
    ///   - directory: where the lecture is written.
    ///   - name: of the sealed file there.
    ///   - inputs: the recordings, in order.
    ///   - key: 32 bytes.
    package init(content: String, directory: String, name: String, inputs: [String], key: SecretBytes) {
        (self.content, self.directory, self.name, self.inputs, self.key) = (content, directory, name, inputs, key)
    }

    /// The most that is read, in bytes: about five thousand recordings.
    package static let longest = 1 << 20

    /// Reads an order; nil when it is not whole.
    ///
    /// - Parameter bytes: all that was sent.
    /// - Throws: `LectureError` without memory for the key.
    package init?(_ bytes: [UInt8]) throws(LectureError) {
        guard bytes.count > LiveKeys.length, let json = try? JSONScanner.scan(Array(bytes.dropFirst(LiveKeys.length))),
            let content = json["content"]?.string, let directory = json["directory"]?.string,
            let name = json["name"]?.string, let inputs = json["inputs"]?.elements
        else { return nil }
        let paths = inputs.compactMap(\.string)
        guard paths.count == inputs.count, !paths.isEmpty else { return nil }
        self.init(
            content: content, directory: directory, name: name, inputs: paths,
            key: try SecretBytes(copying: Array(bytes.prefix(LiveKeys.length))))
    }

    /// The order as it is sent.
    ///
    /// - Returns: the bytes, in memory that is cleared.
    /// - Throws: `LectureError` with `parameter` for more than ``longest`` bytes.
    func encoded() throws(LectureError) -> SecretBytes {
        let text = JSONWriter.object { json in
            json.member("content", content)
            json.member("directory", directory)
            json.member("name", name)
            json.array("inputs") { array in for path in inputs { array.element(path) } }
        }
        return try unsafe SecretBytes(count: key.count + text.utf8.count) { buffer in
            unsafe key.withBytes { unsafe buffer.copyMemory(from: $0) }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[key.count...])
            unsafe rest.copyBytes(from: text.utf8)
        }
    }
}

/// What that process says at its end: one line of JSON on standard output.
package enum JoinReport: Hashable, Sendable {
    /// The lecture is on the disk under its name.
    case joined(JoinedLecture)
    /// It cannot be made; a sentence says why.
    case failed(String)

    /// Reads a line; nil for anything else, such as what a process left that was killed.
    ///
    /// - Parameter bytes: all that was written.
    package init?(_ bytes: [UInt8]) {
        guard bytes.last == 0x0A, let json = try? JSONScanner.scan(bytes) else { return nil }
        switch json["event"]?.string {
        case "joined":
            guard let lecture = JoinedLecture(json) else { return nil }
            self = .joined(lecture)
        case "failed":
            guard let message = json["message"]?.string else { return nil }
            self = .failed(message)
        default: return nil
        }
    }

    /// The line, with its end.
    package var line: String {
        JSONWriter.object { json in
            switch self {
            case .joined(let lecture):
                json.member("event", "joined")
                lecture.write(&json)
            case .failed(let message):
                json.member("event", "failed")
                json.member("message", message)
            }
        } + "\n"
    }
}

/// A lecture that was joined from recordings.
package struct JoinedLecture: Hashable, Sendable {
    /// A recording in it.
    package struct Part: Hashable, Sendable {
        /// How much of the recording is before its first key frame, and left out.
        package let skipped: Duration
        /// How long it is in the lecture.
        package let duration: Duration

        /// Creates a part.
        ///
        /// - Parameters:
        ///   - skipped: how much is left out before its first key frame.
        ///   - duration: how long it is in the lecture.
        package init(skipped: Duration, duration: Duration) { (self.skipped, self.duration) = (skipped, duration) }
    }

    /// Its pictures.
    package let frames: Int
    /// Its length.
    package let duration: Duration
    /// The length of the media in bytes.
    package let byteCount: Int
    /// The SHA-256 of the media.
    package let sha256: [UInt8]
    /// The width of its picture, in pixels.
    package let width: Int
    /// The height of its picture, in pixels.
    package let height: Int
    /// Its recordings, in order.
    package let parts: [Part]

    /// Creates one.
    ///
    /// - Parameters:
    ///   - frames: its pictures.
    ///   - duration: its length.
    ///   - byteCount: the length of the media in bytes.
    ///   - sha256: of the media.
    ///   - size: of its picture, in pixels.
    ///   - parts: its recordings, in order.
    package init(
        frames: Int, duration: Duration, byteCount: Int, sha256: [UInt8], size: (width: Int, height: Int),
        parts: [Part]
    ) {
        (self.frames, self.duration, self.byteCount, self.sha256) = (frames, duration, byteCount, sha256)
        (width, height, self.parts) = (size.width, size.height, parts)
    }

    fileprivate init?(_ json: JSONValue) {
        func number(_ value: JSONValue?) -> Int? { value?.integer.flatMap { Int(exactly: $0) } }
        guard let frames = number(json["frames"]), frames > 0, let duration = json["durationMs"]?.integer,
            duration >= 0, let byteCount = number(json["size"]), byteCount > 0, let width = number(json["width"]),
            width > 0, let height = number(json["height"]), height > 0,
            let sha256 = json["sha256"]?.string.flatMap({ Base64URL.bytes($0) }), sha256.count == 32,
            let elements = json["sessions"]?.elements
        else { return nil }
        let parts = elements.compactMap { element -> Part? in
            guard let skipped = element["skippedMs"]?.integer, let length = element["durationMs"]?.integer,
                skipped >= 0, length >= 0
            else { return nil }
            return Part(skipped: .milliseconds(skipped), duration: .milliseconds(length))
        }
        guard parts.count == elements.count else { return nil }
        self.init(
            frames: frames, duration: .milliseconds(duration), byteCount: byteCount, sha256: sha256,
            size: (width, height), parts: parts)
    }

    fileprivate func write(_ json: inout JSONWriter) {
        json.member("frames", frames)
        json.member("durationMs", duration.milliseconds)
        json.member("size", byteCount)
        json.member("sha256", Base64URL.text(sha256))
        json.member("width", width)
        json.member("height", height)
        json.array("sessions") { array in
            for part in parts {
                array.object { json in
                    json.member("skippedMs", part.skipped.milliseconds)
                    json.member("durationMs", part.duration.milliseconds)
                }
            }
        }
    }
}
