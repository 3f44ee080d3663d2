public import Foundation
import LectureModel

/// Receives the SDK's diagnostics for developers.
public protocol UtilDelegate: AnyObject {
    /// A line of the log. Never a key, a token or a learner's name.
    ///
    /// - Parameter logData: the line, without a line end.
    func onLogUtil(_ logData: String)
}

/// The log of the SDK: diagnostics for the application's developer. Without a delegate they go to standard error.
///
/// - Note: `+utilLog:` of the iOS SDK takes a variable number of arguments, which Swift does not import;
///   ``utilLog(_:)`` takes a text.
public final class LogUtil: NSObject, Sendable {
    private struct Receiver {
        weak var delegate: (any UtilDelegate)?
    }

    private static let instance = LogUtil()
    private let receiver = Guarded(Receiver())

    /// The log of this process. In the headers `+sharedUtil`.
    public class func shared() -> LogUtil { instance }

    /// The same under its name in the headers.
    public class func sharedUtil() -> LogUtil { instance }

    /// Receives the lines; held weakly. Called on the thread that logs.
    public var utilDelegate: (any UtilDelegate)? {
        get { receiver.withLock { $0.delegate } }
        set { receiver.withLock { $0.delegate = newValue } }
    }

    /// Writes a line.
    ///
    /// - Parameter text: without a line end.
    public class func utilLog(_ text: String) {
        if let receiver = instance.utilDelegate { return receiver.onLogUtil(text) }
        FileHandle.standardError.write(Data("KollusSDK: \(text)\n".utf8))
    }
}
