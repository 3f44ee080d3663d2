import Glibc
import LectureFiles
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// Serves the fragments of sessions below signed links. Part of ``LiveService``, on its actor.
final class LivePlayback {
    private let broadcasts: LiveBroadcasts
    private let links: PlaybackLinks
    private let options: LiveOptions
    /// Where nginx writes a directory for each session.
    let directory: String

    init(_ broadcasts: LiveBroadcasts, _ links: PlaybackLinks, _ options: LiveOptions, directory: String) {
        (self.broadcasts, self.links, self.options, self.directory) = (broadcasts, links, options, directory)
    }

    private var store: LiveStore { broadcasts.store }

    /// Answers a request below `/live/`.
    ///
    /// - Parameters:
    ///   - segments: of the path, after `live`.
    ///   - head: the request.
    /// - Returns: the answer.
    /// - Throws: ``LiveRefusal``.
    func answer(_ segments: ArraySlice<String>, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        guard head.method == "GET" || head.method == "HEAD" else { throw LiveRefusal.method }
        guard segments.count == 6, let file = segments.last, Self.isName(file) else { throw LiveRefusal.noPath }
        let now = options.now()
        guard let claim = try links.claim(segments.dropLast(), now: now) else { throw LiveRefusal.link }
        let session = try session(claim, now: now)
        // A viewer may add what the login gave it, as the vendor's do; then it must be right.
        if let token = head.parameter("streamingToken") {
            guard try store.member(token: token, .streaming, now: now)?.id == claim.member else {
                throw LiveRefusal.token
            }
        }
        let path = "\(directory)/\(session.name)/\(file)"
        let isPlaylist = file.hasSuffix(".m3u8")
        guard let source = FileSource(path) else { throw LiveRefusal.noPath }
        let shared = [("Access-Control-Allow-Origin", "*"), ("X-Content-Type-Options", "nosniff")]
        guard isPlaylist else {
            let fields = [("Content-Type", "video/mp2t"), ("Cache-Control", "private, max-age=60")] + shared
            let isHead = head.method == "HEAD"
            return HTTPAnswer(
                200, fields,
                body: isHead
                    ? .head(byteCount: source.byteCount) : .source(source, byteCount: source.byteCount))
        }
        let isOver = session.endedAt != nil && !broadcasts.unfinished.contains(session.name)
        let text = NginxPlaylist.corrected(source.text(), isOver: isOver)
        let fields = [("Content-Type", "application/vnd.apple.mpegurl"), ("Cache-Control", "no-store")] + shared
        return HTTPAnswer(200, fields, body: .bytes(Array(text.utf8)))
    }

    /// The session of a claim, if its member may watch it now.
    private func session(_ claim: PlaybackLinks.Claim, now: Timestamp) throws -> StoredSession {
        guard let room = try store.room(claim.room), let session = try store.session(claim.session, of: claim.room),
            try store.member(id: claim.member) != nil, try !store.isBanned(claim.room, claim.member)
        else { throw LiveRefusal.link }
        switch room.state {
        case .live, .inactive: return session
        case .ended:
            // Players read the rest, and the end.
            guard let ended = room.liveEndedAt, now < ended + options.endGrace else { throw LiveRefusal.link }
            return session
        case .scheduled, .cancelled: throw LiveRefusal.link
        }
    }

    /// The names that nginx gives: `index.m3u8` and `12.ts`.
    static func isName(_ name: String) -> Bool {
        if name == "index.m3u8" { return true }
        guard name.hasSuffix(".ts") else { return false }
        let digits = name.dropLast(3).utf8
        return !digits.isEmpty && digits.count <= 12 && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether the first fragment of a session is whole.
    func isPlayable(_ name: String) -> Bool {
        FileSource("\(directory)/\(name)/index.m3u8")?.text().contains("#EXTINF") ?? false
    }

    // MARK: Files that are not needed

    /// Without a directory there is nothing to delete.
    private static func names(_ path: String) -> [String] { (try? DirectoryReader.names(of: path)) ?? [] }

    /// Deletes the directories of sessions that no link leads to any more, and fragments that long left their playlist:
    /// nginx does that only with a process of its own.
    func tidy() throws {
        let needed = try store.neededSessionNames(
            since: options.now() + .seconds(-120 - options.endGrace.components.seconds))
        for name in Self.names(directory) {
            let path = "\(directory)/\(name)"
            guard needed.contains(name) else {
                for file in Self.names(path) { unsafe unlink("\(path)/\(file)") }
                unsafe rmdir(path)
                continue
            }
            guard let text = FileSource("\(path)/index.m3u8")?.text(),
                let first = text.split(separator: "\n").first(where: { Self.isName(String($0)) }),
                let number = Int(first.dropLast(3))
            else { continue }
            for file in Self.names(path) where Self.isName(file) {
                // Readers of an older playlist are at most a few behind.
                if let other = Int(file.dropLast(3)), other < number - 10 { unsafe unlink("\(path)/\(file)") }
            }
        }
    }
}

/// A file that is sent.
///
/// `@unchecked Sendable`: `position` is used by one reader at a time: the server's thread, or who has just made it.
final class FileSource: HTTPBodySource, @unchecked Sendable {
    private let descriptor: Int32
    private var position: Int64 = 0
    /// Its length when it was opened.
    let byteCount: Int64

    /// Opens a regular file; nil when there is none.
    init?(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        (self.descriptor, byteCount) = (descriptor, Int64(facts.st_size))
    }

    deinit { close(descriptor) }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
        guard count > 0 else { return .failed }
        position += Int64(count)
        return .bytes(count)
    }

    func over() {}

    /// All of it; empty when it cannot be read.
    func text() -> String {
        var bytes = [UInt8](repeating: 0, count: Int(min(byteCount, 1 << 20)))
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
