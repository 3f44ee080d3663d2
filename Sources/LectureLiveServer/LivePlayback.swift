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
    private var playlists = PlaylistCache()

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
        guard segments.count == 6, let file = segments.last else { throw LiveRefusal.noPath }
        let now = options.now()
        guard let claim = try links.claim(segments.dropLast(), now: now) else { throw LiveRefusal.link }
        let room = try room(claim, now: now)
        // A viewer may add what the login gave it, as the vendor's do; then it must be right.
        if let token = head.parameter("streamingToken") {
            guard try store.member(token: token, .streaming, now: now)?.id == claim.member else {
                throw LiveRefusal.token
            }
        }
        if claim.session == 0 { return try answerWhole(room, file, head) }
        guard Self.isName(file), let session = try store.session(claim.session, of: room.id) else {
            throw LiveRefusal.noPath
        }
        guard file == Self.playlist else { return try fragment("\(directory)/\(session.name)/\(file)", head) }
        let isOver = isOver(session)
        guard let source = playlist(session) else { throw LiveRefusal.noPath }
        let text = playlists.text(session.name, stamp: [source.stamp, isOver ? 1 : 0]) {
            NginxPlaylist.corrected(NginxPlaylist.window(source.text(), count: Self.listed), isOver: isOver)
        }
        return answer(text)
    }

    /// What was made since the room began, for programs that keep it.
    private func answerWhole(_ room: StoredRoom, _ file: String, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        let sessions = try store.sessions(of: room.id)
        guard file == Self.playlist else {
            // `2-15.ts`: the number of the session, and nginx's name.
            let parts = file.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isName(String(parts[1])), parts[1] != Self.playlist,
                let session = sessions.first(where: { "\($0.number ?? 0)" == parts[0] })
            else { throw LiveRefusal.noPath }
            return try fragment("\(directory)/\(session.name)/\(parts[1])", head)
        }
        let found = sessions.compactMap { session in playlist(session).map { (session, $0) } }
        let isOver = room.state.isFinal && sessions.allSatisfy { self.isOver($0) }
        let stamp = found.map(\.1.stamp) + [isOver ? 1 : 0]
        let text = playlists.text("room \(room.id)", stamp: stamp) {
            NginxPlaylist.whole(
                found.map { ($0.0.number ?? 0, $0.1.text()) }, fragment: options.fragment, isOver: isOver)
        }
        return answer(text)
    }

    private static let playlist = "index.m3u8"
    /// How many fragments viewers see.
    private static let listed = 10
    private static let shared = [("Access-Control-Allow-Origin", "*"), ("X-Content-Type-Options", "nosniff")]

    private func isOver(_ session: StoredSession) -> Bool {
        session.endedAt != nil && !broadcasts.unfinished.contains(session.name)
    }

    private func playlist(_ session: StoredSession) -> FileSource? {
        FileSource("\(directory)/\(session.name)/\(Self.playlist)")
    }

    private func answer(_ playlist: String) -> HTTPAnswer {
        let fields = [("Content-Type", "application/vnd.apple.mpegurl"), ("Cache-Control", "no-store")]
        return HTTPAnswer(200, fields + Self.shared, body: .bytes(Array(playlist.utf8)))
    }

    private func fragment(_ path: String, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        guard let source = FileSource(path) else { throw LiveRefusal.noPath }
        let fields = [("Content-Type", "video/mp2t"), ("Cache-Control", "private, max-age=60")] + Self.shared
        let isHead = head.method == "HEAD"
        return HTTPAnswer(
            200, fields,
            body: isHead ? .head(byteCount: source.byteCount) : .source(source, byteCount: source.byteCount))
    }

    /// The room of a claim, if its member may watch it now.
    private func room(_ claim: PlaybackLinks.Claim, now: Timestamp) throws -> StoredRoom {
        guard let room = try store.room(claim.room), try store.member(id: claim.member) != nil,
            try !store.isBanned(claim.room, claim.member)
        else { throw LiveRefusal.link }
        switch room.state {
        case .live, .inactive: return room
        case .ended:
            // Players read the rest, and the end.
            guard let ended = room.liveEndedAt, now < ended + options.endGrace else { throw LiveRefusal.link }
            return room
        case .scheduled, .cancelled: throw LiveRefusal.link
        }
    }

    /// The names that nginx gives: `index.m3u8` and `12.ts`.
    static func isName(_ name: String) -> Bool {
        if name == playlist { return true }
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

    /// Deletes the directories of sessions that no link leads to any more: nginx does that only with a process of its
    /// own, and by its playlist.
    func tidy() throws {
        let needed = try store.neededSessionNames(
            since: options.now() + .seconds(-120 - options.endGrace.components.seconds))
        for name in Self.names(directory) where !needed.contains(name) {
            let path = "\(directory)/\(name)"
            for file in Self.names(path) { unsafe unlink("\(path)/\(file)") }
            unsafe rmdir(path)
        }
        playlists.tidy()
    }
}

/// Playlists as they are answered. A file is read again when nginx has written it: hundreds of viewers ask for one that
/// changes every few seconds, and lists hours.
struct PlaylistCache {
    private struct Entry {
        let stamp: [Int64]
        let text: String
        var isUsed = true
    }

    private var entries: [String: Entry] = [:]

    /// The text of a playlist.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - stamp: what it is made of; another one makes it anew.
    ///   - make: makes it.
    /// - Returns: the text.
    mutating func text(_ name: String, stamp: [Int64], _ make: () -> String) -> String {
        if let entry = entries[name], entry.stamp == stamp {
            entries[name]?.isUsed = true
            return entry.text
        }
        let text = make()
        entries[name] = Entry(stamp: stamp, text: text)
        return text
    }

    /// Forgets those that were not asked for since the last call.
    mutating func tidy() {
        entries = entries.filter { $0.value.isUsed }.mapValues { entry in
            var entry = entry
            entry.isUsed = false
            return entry
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
    /// When it was written, in nanoseconds since 1970: nginx replaces a playlist by a new file.
    let stamp: Int64

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
        stamp = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
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
        var bytes = [UInt8](repeating: 0, count: Int(min(byteCount, 8 << 20)))
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
