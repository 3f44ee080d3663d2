import Foundation
import KollusSDK
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// An application with a started storage and a downloaded film.
final class Cinema: Sendable {
    let classroom: Classroom
    let storage: KollusStorage
    let key: String

    /// Downloads a film.
    ///
    /// - Parameters:
    ///   - policy: of its licence; nil for a film that needs none.
    ///   - lms: whether it has a channel for reports.
    ///   - extras: whether it has a description with chapters and bookmarks.
    ///   - query: more parameters of its link; `SERVER` is the server's address.
    ///   - name: of the media.
    /// - Throws: `KollusError`, `LectureError`, ``ChildProcess/Failure``.
    init(
        _ policy: CallbackPolicy? = nil, lms: Bool = false, extras: Bool = false, query: String = "",
        name: String = "durable-on-the-disk"
    ) async throws {
        classroom = try await Classroom(lms ? ["--lms"] : [])
        storage = try classroom.started()
        if let policy { try await classroom.origin.set(policy: policy) }
        let link = try await classroom.origin.link(
            key: name, extras: extras, licensed: policy == nil ? nil : "", lms: lms ? [""] : [],
            query: query.replacingOccurrences(of: "SERVER", with: classroom.origin.http))
        let witness = Witness()
        storage.delegate = witness
        key = try await storage.load(link)
        try storage.downloadContent(key)
        let finals = await witness.finals(1)
        guard case .download(key, 100, true, _, nil) = finals.last else {
            throw LectureError(.bug, detail: "\(finals)")
        }
    }

    /// A player without a picture and without a sound.
    func view(_ witness: PlayerWitness?) throws -> KollusPlayerView {
        let view = try #require(KollusPlayerView(mediaContentKey: key))
        view.storage = storage
        (view.surface, view.engineOptions) = (.none, ["ao": "null"])
        (view.delegate, view.drmDelegate) = (witness, witness)
        (view.lmsDelegate, view.bookmarkDelegate) = (witness, witness)
        return view
    }

    var countLeft: Int? {
        get throws { try storage.content(key)?.drmExpireCount }
    }

    func end() async {
        await storage.finish()
        await classroom.origin.stop()
    }
}

/// Records every call of a player's delegates, with what the view says at that moment.
final class PlayerWitness: NSObject, Sendable {
    /// One call.
    enum Call: Sendable, Equatable {
        case prepared(code: Int?)
        case play(Bool, code: Int?)
        case pause(Bool, code: Int?)
        case stop(Bool, code: Int?)
        case position(TimeInterval, isSeeking: Bool)
        case rate(Float)
        case repeats(Bool)
        case size(CGSize)
        case key(String)
        case mode(KollusPlayerContentMode)
        case scroll(isScrolling: Bool)
        case zoom(CGFloat)
        case trouble(code: Int)
        case exchange(kind: Int, keys: [String])
        case report(String, isTaken: Bool)
        case bookmarks([TimeInterval], isEditable: Bool)
        case caption(String)

        /// Whether it is the result of a request, or the end.
        var isResult: Bool {
            switch self {
            case .prepared, .play, .pause, .stop: true
            default: false
            }
        }
    }

    private struct Waiter {
        let passes: @Sendable ([Call]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var calls: [Call] = []
        var waiters: [Waiter] = []
        var also: (@Sendable (Call, KollusPlayerView) -> Void)?
    }

    private let state = Guarded(State())

    /// Everything so far.
    var calls: [Call] { state.withLock { $0.calls } }
    /// The results so far.
    var results: [Call] { calls.filter(\.isResult) }

    /// What happens within each call.
    func also(_ body: @escaping @Sendable (Call, KollusPlayerView) -> Void) { state.withLock { $0.also = body } }

    /// Returns once the calls pass; a suite's time limit ends the wait.
    func until(_ passes: @escaping @Sendable ([Call]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if passes(state.calls) { return true }
                state.waiters.append(Waiter(passes: passes, continuation: continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Returns once this call was made.
    func until(_ call: Call) async { await until { $0.contains(call) } }

    private func take(_ call: Call, _ view: KollusPlayerView) {
        dispatchPrecondition(condition: .onQueue(.main))
        let (ready, also) = state.withLock { state in
            state.calls.append(call)
            let ready = state.waiters.filter { $0.passes(state.calls) }
            state.waiters.removeAll { $0.passes(state.calls) }
            return (ready, state.also)
        }
        also?(call, view)
        for waiter in ready { waiter.continuation.resume() }
    }

    private func code(_ error: (any Error)?) -> Int? { (error as NSError?)?.code }
}

extension PlayerWitness: KollusPlayerDelegate {
    func kollusPlayerView(_ view: KollusPlayerView, prepareToPlayWithError error: (any Error)?) {
        #expect(view.isPreparedToPlay == (error == nil))
        take(.prepared(code: code(error)), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, play userInteraction: Bool, error: (any Error)?) {
        if error == nil { #expect(view.isPlaying) }
        take(.play(userInteraction, code: code(error)), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, pause userInteraction: Bool, error: (any Error)?) {
        if error == nil { #expect(!view.isPlaying) }
        take(.pause(userInteraction, code: code(error)), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, stop userInteraction: Bool, error: (any Error)?) {
        #expect(!view.isPreparedToPlay && !view.isPlaying)
        take(.stop(userInteraction, code: code(error)), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, position: TimeInterval, error: (any Error)?) {
        take(.position(position, isSeeking: view.isSeeking), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, playbackRate: Float, error: (any Error)?) {
        take(.rate(playbackRate), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, repeat: Bool, error: (any Error)?) {
        take(.repeats(`repeat`), view)
    }
    func kollusPlayerView(_ view: KollusPlayerView, naturalSize: CGSize) { take(.size(naturalSize), view) }
    func kollusPlayerView(_ view: KollusPlayerView, mck: String) { take(.key(mck), view) }
    func kollusPlayerView(
        _ view: KollusPlayerView, charset: UnsafeMutablePointer<CChar>, caption: UnsafeMutablePointer<CChar>
    ) {
        #expect(unsafe String(cString: charset) == "UTF-8")
        take(.caption(unsafe String(cString: caption)), view)
    }
    func kollusPlayerView(
        _ view: KollusPlayerView, playerContentMode: KollusPlayerContentMode, error: (any Error)?
    ) { take(.mode(playerContentMode), view) }
    func kollusPlayerView(_ view: KollusPlayerView, scroll distance: CGPoint, error: (any Error)?) {
        take(.scroll(isScrolling: view.isScrolling), view)
    }
    func kollusPlayerView(
        _ view: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer, error: NSErrorPointer
    ) { take(.zoom(recognizer.scale), view) }
    func kollusPlayerView(_ view: KollusPlayerView, unknownError error: any Error) {
        take(.trouble(code: (error as NSError).code), view)
    }
}

extension PlayerWitness: KollusPlayerDRMDelegate, KollusPlayerLMSDelegate, KollusPlayerBookmarkDelegate {
    func kollusPlayerView(
        _ view: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) {
        let items = request["items"] as? [[String: Any]] ?? []
        take(
            .exchange(
                kind: request["kind"] as? Int ?? 0, keys: items.compactMap { $0["media_content_key"] as? String }), view
        )
    }
    func kollusPlayerView(_ view: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]?) {
        take(.report(lmsData, isTaken: resultJson != nil), view)
    }
    func kollusPlayerView(
        _ view: KollusPlayerView, bookmark: [Any], enabled: Bool, error: (any Error)?
    ) {
        let positions = bookmark.compactMap { ($0 as? KollusBookmark)?.position }
        #expect(error == nil && positions.count == bookmark.count)
        take(.bookmarks(positions, isEditable: enabled), view)
    }
}
