public import Foundation
import LectureKit
import LectureLoopback
import LectureModel

// MARK: Beside the iOS SDK

/// A play by a web view, or by another program: a URL of this machine for one program, until the play ends. One that is
/// released ends.
public final class KollusWebPlay: Sendable {
    /// What the web view opens. It permits reading the content: it belongs in no log and no file.
    public let url: URL
    private let play: LoopbackPlay

    init(_ play: LoopbackPlay) throws {
        guard let url = URL(string: play.url) else { throw KollusError(LectureError(.bug)) }
        (self.play, self.url) = (play, url)
    }

    /// Ends the play: the URL works no longer.
    public func close() async { await play.close() }

    /// Waits for the end of the play.
    ///
    /// - Throws: ``KollusError`` when it could not go on: the licence has ended, or the media is damaged.
    public func finish() async throws {
        if case .failed(let error) = await play.ending() { throw KollusError(error) }
    }
}

/// Web views.
extension KollusStorage {
    /// Plays a content in a web view or in another program. The licence is evaluated now; the play is counted when it
    /// is first read, and it is for one program. The server listens on ``serverPort`` and is started with the first
    /// play; pages of ``KollusSettings/webOrigins`` may read from it. Nothing is reported, since a web view reads bytes
    /// and no positions.
    ///
    /// - Parameter key: the media content key.
    /// - Returns: the play.
    /// - Throws: ``KollusError``: −8614 before a start, −8613, −8621, −8629 while the content is not complete, the
    ///   licence's code, −20253 for one with a watermark or rules of a gateway, −20254 without libmicrohttpd, −20255
    ///   when the port is in use. `CancellationError`.
    public func webPlay(_ key: String) async throws -> KollusWebPlay {
        try await core.webPlay(.lecture(try StorageCore.key(key)), port: 0)
    }
}

extension KollusPlayerView {
    /// Plays the view's content in a web view or in another program and not in the view, as
    /// ``KollusStorage/webPlay(_:)``; also a content URL. The server listens on ``proxyPort``, or where that is 0 on
    /// the storage's ``KollusStorage/serverPort``.
    ///
    /// - Returns: the play.
    /// - Throws: as ``KollusStorage/webPlay(_:)``; −2108 without a storage, −2109 without a content.
    public func webPlay() async throws -> KollusWebPlay { try await core.webPlay() }
}

extension StorageCore {
    /// Serves media on a port, or where that is 0 on the storage's.
    func webPlay(_ media: LoopbackMedia, port: Int) async throws -> KollusWebPlay {
        let manager = try manager()
        var options = LoopbackOptions()
        options.origins = self[\.settings.webOrigins]
        let wanted = port == 0 ? self[\.serverPort] : port
        guard let number = UInt16(exactly: wanted) else {
            throw KollusError(.ERROR_PARAM_VALUE, detail: port == 0 ? "serverPort" : "proxyPort")
        }
        options.port = number
        do {
            return try KollusWebPlay(try await webServers.server(manager, options).open(media))
        } catch let error as LectureError {
            throw KollusError(error)
        }
    }
}

extension PlayerCore {
    func webPlay() async throws -> KollusWebPlay {
        guard let storage = self[\.storage]?.core else { throw KollusError(.KOLLUS_STORAGE_IS_EMPTY) }
        let port = Int(clamping: self[\.kept.port])
        switch try source(in: storage) {
        case .lecture(let key): return try await storage.webPlay(.lecture(key), port: port)
        case .stream(let url): return try await storage.webPlay(.stream(url), port: port)
        }
    }
}

/// The loopback servers of a storage, by port; each is started with its first play.
final class WebServers: Sendable {
    private struct State {
        var servers: [UInt16: LoopbackServer] = [:]
        var isOver = false
    }

    private let state = Guarded(State())

    /// The server of a port.
    func server(_ manager: LectureManager, _ options: LoopbackOptions) throws(LectureError) -> LoopbackServer {
        try state.withLock { state throws(LectureError) in
            if state.isOver { throw LectureError(.closing) }
            if let server = state.servers[options.port] { return server }
            let server = try LoopbackServer(manager, options: options)
            state.servers[options.port] = server
            return server
        }
    }

    /// Ends every play, and closes the ports.
    func end() async {
        let servers = state.withLock { state in
            state.isOver = true
            defer { state.servers = [:] }
            return Array(state.servers.values)
        }
        for server in servers { await server.stop() }
    }
}
