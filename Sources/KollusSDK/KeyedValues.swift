import Foundation
import LectureModel

/// Values set by name, for classes that are otherwise read-only: `NSObject` has `setValue(_:forKey:)` on iOS and not on
/// Linux.
final class KeyedValues: Sendable {
    /// The kinds of values.
    enum Kind: Sendable {
        /// `String!`; nil is valid.
        case text
        /// `Date!`; nil is valid.
        case date
        /// A whole number, also as a number of another type or as one of the SDK's enumerations.
        case integer
        /// Seconds.
        case seconds
        /// A Boolean.
        case flag
        /// `CGSize`.
        case size
    }

    /// A value of one of the kinds.
    private enum Value: Sendable {
        case text(String?)
        case date(Date?)
        case integer(Int64)
        case seconds(TimeInterval)
        case flag(Bool)
        case size(CGSize)
    }

    private let values = Guarded<[String: Value]>([:])

    /// Sets a value.
    ///
    /// - Parameters:
    ///   - value: of the kind, or its bridged form: an `NSNumber` for a number or a Boolean.
    ///   - name: of the property.
    ///   - kind: the required kind.
    /// - Returns: false for a value of another kind; then nothing has changed.
    func set(_ value: Any?, _ name: String, _ kind: Kind) -> Bool {
        guard let made = Self.make(value, kind) else { return false }
        values.withLock { $0[name] = made }
        return true
    }

    private static func make(_ value: Any?, _ kind: Kind) -> Value? {
        switch kind {
        case .text: value == nil ? .text(nil) : (value as? String).map { .text($0) }
        case .date: value == nil ? .date(nil) : (value as? Date).map { .date($0) }
        case .integer: integer(value).map { .integer($0) }
        case .seconds: (number(value)?.doubleValue).map { .seconds($0) }
        case .flag: (value as? Bool ?? number(value)?.boolValue).map { .flag($0) }
        case .size: (value as? CGSize).map { .size($0) }
        }
    }

    private static func integer(_ value: Any?) -> Int64? {
        switch value {
        case let value as KollusContentType: Int64(value.rawValue)
        case let value as KollusBookmarkKind: Int64(value.rawValue)
        default: number(value)?.int64Value
        }
    }

    private static func number(_ value: Any?) -> NSNumber? {
        switch value {
        case let value as NSNumber: value
        case let value as Int: NSNumber(value: value)
        case let value as UInt: NSNumber(value: value)
        case let value as Int64: NSNumber(value: value)
        case let value as Int32: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        default: nil
        }
    }

    /// A text that was set, else the class's own.
    func text(_ name: String, _ own: @autoclosure () -> String?) -> String? {
        if case .text(let value) = value(name) { value } else { own() }
    }

    /// A moment that was set, else the class's own.
    func date(_ name: String, _ own: @autoclosure () -> Date?) -> Date? {
        if case .date(let value) = value(name) { value } else { own() }
    }

    /// A whole number that was set, else the class's own.
    func integer<Number: BinaryInteger>(_ name: String, _ own: @autoclosure () -> Number) -> Number {
        if case .integer(let value) = value(name) { Number(clamping: value) } else { own() }
    }

    /// Seconds that were set, else the class's own.
    func seconds(_ name: String, _ own: @autoclosure () -> TimeInterval) -> TimeInterval {
        if case .seconds(let value) = value(name) { value } else { own() }
    }

    /// A Boolean that was set, else the class's own.
    func flag(_ name: String, _ own: @autoclosure () -> Bool) -> Bool {
        if case .flag(let value) = value(name) { value } else { own() }
    }

    /// A size that was set, else the class's own.
    func size(_ name: String, _ own: @autoclosure () -> CGSize) -> CGSize {
        if case .size(let value) = value(name) { value } else { own() }
    }

    private func value(_ name: String) -> Value? { values.withLock { $0[name] } }
}
