public import Foundation
import LectureModel

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of every error that the SDK throws or reports. The iOS SDK publishes none.
public let KollusErrorDomain = "KollusErrorDomain"

/// An error of the SDK: a number, a sentence that says what to do, and its subject.
///
/// The numbers are the vendor's (``Code``) and negative, as in `NSError.code` of the iOS SDK. It is an `NSError`, so
/// `catch let error as NSError` works as on iOS.
///
/// `@unchecked Sendable`: it adds no property to `NSError`, which is Sendable and asks its subclasses to repeat that.
public final class KollusError: NSError, @unchecked Sendable {
    /// The key in `userInfo` of its subject: a content's key, a path, a server's host. Never a secret.
    public static let detailKey = "KollusErrorDetail"

    /// The vendor's name for the number; nil for the families (transfers, HTTP statuses) and LectureKit's own numbers.
    public var kind: Code? { Code(rawValue: code) }

    /// Its subject; empty when there is none.
    public var detail: String { userInfo[Self.detailKey] as? String ?? "" }

    /// An error with the vendor's number.
    ///
    /// - Parameters:
    ///   - kind: the number.
    ///   - detail: its subject.
    public init(_ kind: Code, detail: String = "") {
        super.init(
            domain: KollusErrorDomain, code: kind.rawValue, userInfo: Self.info(kind.sentence, detail))
    }

    /// From the library's error: the same number, and the server's own message if it sent one.
    init(_ error: LectureError) {
        super.init(
            domain: KollusErrorDomain, code: error.code.number,
            userInfo: Self.info(Self.sentence(error), error.detail))
    }

    /// From any thrown error.
    convenience init(wrapping error: any Error) {
        switch error {
        case let error as LectureError: self.init(error)
        case let error as KollusError: self.init(error.code, error.localizedDescription, error.detail)
        case is CancellationError: self.init(LectureError(.cancelled))
        default: self.init(LectureError(.bug, cause: "\(type(of: error))"))
        }
    }

    private init(_ number: Int, _ sentence: String, _ detail: String) {
        super.init(domain: KollusErrorDomain, code: number, userInfo: Self.info(sentence, detail))
    }

    /// Errors are not stored by this SDK.
    ///
    /// - Parameter coder: not used.
    public required init?(coder: NSCoder) { nil }

    private static func info(_ sentence: String, _ detail: String) -> [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: sentence]
        if !detail.isEmpty { info[detailKey] = detail }
        return info
    }

    /// When a licence server refused with its own message, that message replaces ours.
    private static func sentence(_ error: LectureError) -> String {
        let kind = Code(rawValue: error.code.number)
        switch kind {
        case .ERROR_ABNORMAL_DRM_INFO, .ERROR_ABNORMAL_DRM_COMPLETE, .ERROR_ABNORMAL_DRM_PLAY, .ERROR_FORCE_DELETE,
            .ERROR_ABNORMAL_PLAY_CALLBACK_INFO, .ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY, .ERROR_PLAY_CALLBACK_EXPIRED:
            if !error.cause.isEmpty { return error.cause }
        default: break
        }
        // The cause helps the developer who set the values: a clock that is behind, another issuer.
        if kind == .INCORRECT_AUTH_KEY, !error.cause.isEmpty {
            return "\(Code.INCORRECT_AUTH_KEY.sentence) (\(error.cause))"
        }
        if let kind { return kind.sentence }
        let summary = error.code.summary.prefix(1).uppercased() + error.code.summary.dropFirst()
        // A remedy that mentions the command means nothing to an application.
        let remedy = error.code.remedy
        return remedy.isEmpty || remedy.contains("lecturectl") || remedy.contains("--")
            ? "\(summary)." : "\(summary). \(remedy)"
    }
}
