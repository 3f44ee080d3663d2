import Dispatch
import Foundation
import LectureModel

/// Checks whether a delegate implements any method.
///
/// A method with other optionals compiles and is never called. The language does not show whether a requirement is met
/// by a class or by a default, so the names of the program's own functions are searched: the symbol table of an
/// executable that was not stripped, which is what a developer runs. Without one, nothing is logged here; an event that
/// the delegate does not receive is logged when it occurs (`Deliverer`).
enum DelegateInspection {
    /// Every spelling that binds, in the form of demangled function names.
    private static let spellings: Set<String> = [
        "kollusStorage(_: S?, downloadContent: C?, error: E?)", "kollusStorage(_: S, downloadContent: C, error: E?)",
        "kollusStorage(_: S?, request: D?, json: D?, error: E?)", "kollusStorage(_: S, request: D, json: D, error: E?)",
        "kollusStorage(_: S, request: D, json: D?, error: E?)",
        "kollusStorage(_: S?, cur: Int32, count: Int32, error: E?)",
        "kollusStorage(_: S, cur: Int32, count: Int32, error: E?)",
        "kollusStorage(_: S?, lmsData: String?, resultJson: D?)", "kollusStorage(_: S, lmsData: String, resultJson: D)",
        "kollusStorage(_: S, lmsData: String, resultJson: D?)", "onSendCompleteStoredLms(_: Int32, failCount: Int32)",
    ]
    /// From the runtime's names to the ones above, in this order.
    private static let abbreviations =
        [
            ("KollusSDK.KollusStorage", "S"), ("KollusSDK.KollusContent", "C"), ("Swift.Error", "E"),
            ("Swift.Dictionary<Swift.AnyHashable, Any>", "D"), ("Swift.String", "String"), ("Swift.Int32", "Int32"),
        ] + ["S", "C", "D", "E", "String"].map { ("Swift.Optional<\($0)>", "\($0)?") }
    private static let seen = Guarded<Set<String>>([])
    private static let queue = DispatchQueue(label: "kollussdk.inspection", qos: .utility)

    /// Inspects a delegate's class, once, and logs soon if it implements none of the methods.
    static func inspect(_ delegate: any KollusStorageDelegate) {
        var names: [String] = []
        var type: AnyClass? = Swift.type(of: delegate)
        while let current = type, current != NSObject.self {
            guard let name = _mangledTypeName(current) else { return }
            names.append("$s\(name)")
            type = _getSuperclass(current)
        }
        let title = "\(Swift.type(of: delegate))"
        guard let first = names.first, seen.withLock({ $0.insert(first).inserted }) else { return }
        queue.async { [names] in
            guard let symbols = ProgramSymbols.table, symbols.names(beginningWith: first).first != nil else { return }
            let isHeard = names.contains { name in symbols.names(beginningWith: name).contains(where: isSpelling) }
            if !isHeard { LogUtil.utilLog("\(title) implements no method of KollusStorageDelegate. \(advice)") }
        }
    }

    /// Whether a symbol is a method that binds.
    private static func isSpelling(_ symbol: String) -> Bool {
        guard var text = ProgramSymbols.written(symbol), text.hasSuffix(" -> ()"),
            let start = ["kollusStorage(", "onSendCompleteStoredLms("].compactMap({ text.range(of: $0)?.lowerBound })
                .first
        else { return false }
        text = String(text[start...].dropLast(6))
        for (long, short) in abbreviations { text = text.replacingOccurrences(of: long, with: short) }
        return spellings.contains(text)
    }

    private static let advice =
        "A method binds only if its optionals match one of the declarations exactly; compare its parameters with them."

    /// The log line about a method that no spelling binds.
    static func sentence(_ method: String, _ type: Any.Type) -> String {
        "\(type) has no method \(method), so it did not receive this event. \(advice)"
    }
}

/// The names of the functions of this program.
private struct ProgramSymbols {
    /// The symbols of the executable; nil when it was stripped.
    static let table = ProgramSymbols(path: "/proc/self/exe")

    private let names: Data

    /// Reads the string table that belongs to the symbol table of an ELF file of 64 bits (System V ABI, chapter 4).
    private init?(path: String) {
        guard let file = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped), file.count > 64,
            file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        else { return nil }
        func number(_ offset: Int, _ width: Int) -> Int {
            guard offset >= 0, offset + width <= file.count else { return 0 }
            return (0..<width).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
        }
        let (table, size, count) = (number(40, 8), number(58, 2), number(60, 2))
        let symbolTable = 2
        for section in 0..<count where number(table + section * size + 4, 4) == symbolTable {
            let strings = table + number(table + section * size + 40, 4) * size
            let (offset, length) = (number(strings + 24, 8), number(strings + 32, 8))
            guard length > 0, offset >= 0, offset + length <= file.count else { return nil }
            names = file[offset..<offset + length]
            return
        }
        return nil
    }

    /// The names with this prefix, at most a thousand. A large program has a hundred megabytes of names, so their ends
    /// are found by the C library: element by element that would take minutes in a build for debugging.
    func names(beginningWith prefix: String) -> [String] {
        let prefix = Array(prefix.utf8)
        return unsafe names.withUnsafeBytes { names in
            guard let first = names.baseAddress else { return [] }
            var found: [String] = []
            var start = 0
            while found.count < 1000, start < names.count {
                let next = unsafe first + start
                let end = unsafe memchr(next, 0, names.count - start)
                let length = unsafe end.map { unsafe UnsafeRawPointer($0) - next } ?? (names.count - start)
                if length >= prefix.count, unsafe memcmp(next, prefix, prefix.count) == 0 {
                    unsafe found.append(String(decoding: names[start..<start + length], as: UTF8.self))
                }
                start += length + 1
            }
            return found
        }
    }

    /// A symbol in demangled form.
    static func written(_ symbol: String) -> String? {
        guard let text = unsafe swiftDemangle(symbol, symbol.utf8.count, nil, nil, 0) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}

/// From the runtime library: demangles a name into memory that the caller frees.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
