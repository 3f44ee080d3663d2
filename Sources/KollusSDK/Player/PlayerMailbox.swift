import Dispatch
import Foundation
import LectureModel

/// A call of a player's delegates.
enum PlayerDelivery: Sendable {
    case prepared(KollusError?)
    case play(Bool, KollusError?)
    case pause(Bool, KollusError?)
    case stop(Bool, KollusError?)
    case buffering(Bool, isPrepared: Bool)
    case position(TimeInterval)
    case scroll(CGPoint)
    case zoom(UIPinchGestureRecognizer)
    case naturalSize(CGSize)
    case contentMode(KollusPlayerContentMode)
    case contentFrame(CGRect)
    case rate(Float)
    case repeats(Bool)
    case unknownError(KollusError)
    case frameRate(Int32)
    case caption(String)
    case secondCaption(String)
    case thumbnail
    case mediaContentKey(String)
    case exchange(KollusExchange)
    case report(data: String, answer: String?, error: KollusError?)
    case bookmarks([KollusBookmark]?, isEditable: Bool, KollusError?)
}

/// Calls a player's delegates: in order, each call once, on the queue that the application chose.
///
/// `@unchecked Sendable`: all state is behind the lock; the view is set once, before any delivery, and delegates are
/// fetched and called on their queue only.
final class PlayerMailbox: @unchecked Sendable {
    /// What the application has set.
    struct State {
        weak var player: (any KollusPlayerDelegate)?
        weak var licences: (any KollusPlayerDRMDelegate)?
        weak var reports: (any KollusPlayerLMSDelegate)?
        weak var bookmarks: (any KollusPlayerBookmarkDelegate)?
        var queue = DispatchQueue.main
        /// What the log has.
        var reported: Set<String> = []
    }

    private let state = Guarded(State())
    private weak var view: KollusPlayerView?

    /// Sets the view that is passed to the delegates; once, before any delivery.
    func serve(_ view: KollusPlayerView) { self.view = view }

    subscript<Value>(path: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: path] } }
        set { state.withLock { $0[keyPath: path] = newValue } }
    }

    /// Queues a delivery; nothing is delivered once the view is gone.
    ///
    /// - Parameters:
    ///   - delivery: what the delegate gets.
    ///   - change: makes it true for the view's properties, just before.
    func post(_ delivery: PlayerDelivery, _ change: @escaping @Sendable () -> Void = {}) {
        self[\.queue].async { [weak self] in
            guard let self, let view else { return }
            change()
            deliver(delivery, view)
        }
    }

    // MARK: The spellings

    private func deliver(_ delivery: PlayerDelivery, _ view: KollusPlayerView) {
        // Typed as optionals, the arguments select the implicitly unwrapped spelling.
        let some: KollusPlayerView? = view
        switch delivery {
        case .exchange(let exchange):
            if let delegate = self[\.licences] { deliver(exchange, delegate, view) }
        case .report(let data, let answer, let error):
            guard let delegate = self[\.reports] else { return }
            let (object, text, error): ([AnyHashable: Any]?, String?, (any Error)?) = (answer?.jsonObject, data, error)
            let (present, some3): ([AnyHashable: Any], [AnyHashable: Any]?) = (object ?? [:], object ?? [:])
            delegate.kollusPlayerView(some, lmsData: text, resultJson: some3)
            delegate.kollusPlayerView(view, lmsData: data, resultJson: present)
            delegate.kollusPlayerView(view, lmsData: data, resultJson: object)
            delegate.kollusPlayerView(some, lmsData: text, json: some3, error: error)
            delegate.kollusPlayerView(view, lmsData: data, json: present, error: error)
            delegate.kollusPlayerView(view, lmsData: data, json: object, error: error)
        case .bookmarks(let bookmarks, let isEditable, let error):
            guard let delegate = self[\.bookmarks] else { return }
            let (list, error): ([Any]?, (any Error)?) = (bookmarks, error)
            delegate.kollusPlayerView(some, bookmark: list ?? [], enabled: isEditable, error: error)
            delegate.kollusPlayerView(view, bookmark: (list ?? []) as [Any], enabled: isEditable, error: error)
            delegate.kollusPlayerView(view, bookmark: list, enabled: isEditable, error: error)
        case .prepared, .play, .pause, .stop, .unknownError:
            if let delegate = self[\.player] { answer(delivery, delegate, view) }
        default:
            if let delegate = self[\.player] { inform(delivery, delegate, view) }
        }
    }

    private func deliver(
        _ exchange: KollusExchange, _ delegate: any KollusPlayerDRMDelegate, _ view: KollusPlayerView
    ) {
        let (request, json) = exchange.dictionaries
        let error: (any Error)? = exchange.error
        let (some, asked, answered): (KollusPlayerView?, [AnyHashable: Any]?, [AnyHashable: Any]?) = (
            view, request, json
        )
        delegate.kollusPlayerView(some, request: asked, json: answered, error: error)
        delegate.kollusPlayerView(view, request: request, json: json ?? [:], error: error)
        delegate.kollusPlayerView(view, request: request, json: answered, error: error)
    }

    /// Results, which an application must not miss.
    private func answer(
        _ delivery: PlayerDelivery, _ delegate: any KollusPlayerDelegate, _ view: KollusPlayerView
    ) {
        let some: KollusPlayerView? = view
        let name: String
        let isUnheard: Bool
        switch delivery {
        case .prepared(let error):
            let error: (any Error)? = error
            name = "prepareToPlayWithError"
            isUnheard = Unheard.all(of: 2) {
                delegate.kollusPlayerView(some, prepareToPlayWithError: error)
                delegate.kollusPlayerView(view, prepareToPlayWithError: error)
            }
        case .play(let isRequested, let error):
            let error: (any Error)? = error
            name = "play:error"
            isUnheard = Unheard.all(of: 2) {
                delegate.kollusPlayerView(some, play: isRequested, error: error)
                delegate.kollusPlayerView(view, play: isRequested, error: error)
            }
        case .pause(let isRequested, let error):
            let error: (any Error)? = error
            name = "pause:error"
            isUnheard = Unheard.all(of: 2) {
                delegate.kollusPlayerView(some, pause: isRequested, error: error)
                delegate.kollusPlayerView(view, pause: isRequested, error: error)
            }
        case .stop(let isRequested, let error):
            let error: (any Error)? = error
            name = "stop:error"
            isUnheard = Unheard.all(of: 2) {
                delegate.kollusPlayerView(some, stop: isRequested, error: error)
                delegate.kollusPlayerView(view, stop: isRequested, error: error)
            }
        case .unknownError(let error):
            let error: any Error = error
            let optional: (any Error)? = error
            name = "unknownError"
            isUnheard = Unheard.all(of: 3) {
                delegate.kollusPlayerView(some, unknownError: optional)
                delegate.kollusPlayerView(view, unknownError: error)
                delegate.kollusPlayerView(view, unknownError: optional)
            }
        default: return
        }
        guard isUnheard else { return }
        // Once for each class and event.
        let line = DelegateInspection.sentence("kollusPlayerView(_:\(name):)", type(of: delegate))
        if state.withLock({ $0.reported.insert(line).inserted }) { LogUtil.utilLog(line) }
    }

    /// Everything else.
    private func inform(
        _ delivery: PlayerDelivery, _ delegate: any KollusPlayerDelegate, _ view: KollusPlayerView
    ) {
        let some: KollusPlayerView? = view
        let none: (any Error)? = nil
        switch delivery {
        case .buffering(let waits, let isPrepared):
            delegate.kollusPlayerView(some, buffering: waits, prepared: isPrepared, error: none)
            delegate.kollusPlayerView(view, buffering: waits, prepared: isPrepared, error: none)
        case .position(let place):
            delegate.kollusPlayerView(some, position: place, error: none)
            delegate.kollusPlayerView(view, position: place, error: none)
        case .scroll(let distance):
            delegate.kollusPlayerView(some, scroll: distance, error: none)
            delegate.kollusPlayerView(view, scroll: distance, error: none)
        case .zoom(let gesture):
            let optional: UIPinchGestureRecognizer? = gesture
            unsafe delegate.kollusPlayerView(some, zoom: optional, error: nil)
            unsafe delegate.kollusPlayerView(view, zoom: gesture, error: nil)
            unsafe delegate.kollusPlayerView(view, zoom: optional, error: nil)
        case .naturalSize(let size):
            delegate.kollusPlayerView(some, naturalSize: size)
            delegate.kollusPlayerView(view, naturalSize: size)
        case .contentMode(let mode):
            delegate.kollusPlayerView(some, playerContentMode: mode, error: none)
            delegate.kollusPlayerView(view, playerContentMode: mode, error: none)
        case .contentFrame(let frame):
            delegate.kollusPlayerView(some, playerContentFrame: frame, error: none)
            delegate.kollusPlayerView(view, playerContentFrame: frame, error: none)
        case .rate(let rate):
            delegate.kollusPlayerView(some, playbackRate: rate, error: none)
            delegate.kollusPlayerView(view, playbackRate: rate, error: none)
        case .repeats(let repeats):
            delegate.kollusPlayerView(some, repeat: repeats, error: none)
            delegate.kollusPlayerView(view, repeat: repeats, error: none)
        case .frameRate(let rate):
            delegate.kollusPlayerView(some, framerate: rate)
            delegate.kollusPlayerView(view, framerate: rate)
        case .caption(let text): inform(caption: text, delegate, view)
        case .secondCaption(let text): inform(secondCaption: text, delegate, view)
        case .thumbnail:
            delegate.kollusPlayerView(some, thumbnail: true, error: none)
            delegate.kollusPlayerView(view, thumbnail: true, error: none)
        case .mediaContentKey(let key):
            let optional: String? = key
            delegate.kollusPlayerView(some, mck: optional)
            delegate.kollusPlayerView(view, mck: key)
            delegate.kollusPlayerView(view, mck: optional)
        case .prepared, .play, .pause, .stop, .unknownError, .exchange, .report, .bookmarks: break
        }
    }

    private func inform(caption text: String, _ delegate: any KollusPlayerDelegate, _ view: KollusPlayerView) {
        unsafe strings(text) { charset, caption in
            let (some1, some2): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = unsafe (charset, caption)
            unsafe delegate.kollusPlayerView(view as KollusPlayerView?, charset: some1, caption: some2)
            unsafe delegate.kollusPlayerView(view, charset: charset, caption: caption)
            unsafe delegate.kollusPlayerView(view, charset: some1, caption: some2)
        }
    }

    private func inform(secondCaption text: String, _ delegate: any KollusPlayerDelegate, _ view: KollusPlayerView) {
        unsafe strings(text) { charset, caption in
            let (some1, some2): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = unsafe (charset, caption)
            unsafe delegate.kollusPlayerView(view as KollusPlayerView?, charsetSub: some1, captionSub: some2)
            unsafe delegate.kollusPlayerView(view, charsetSub: charset, captionSub: caption)
            unsafe delegate.kollusPlayerView(view, charsetSub: some1, captionSub: some2)
        }
    }

    /// A character set and a caption as C strings, which are valid during the call.
    private func strings(
        _ text: String, _ deliver: (UnsafeMutablePointer<CChar>, UnsafeMutablePointer<CChar>) -> Void
    ) {
        var (set, bytes) = (Array("UTF-8".utf8CString), Array(text.utf8CString))
        unsafe set.withUnsafeMutableBufferPointer { set in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                // Arrays of C strings are never empty.
                guard let charset = set.baseAddress, let caption = bytes.baseAddress else { return }
                unsafe deliver(charset, caption)
            }
        }
    }
}
