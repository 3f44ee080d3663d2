import LectureCrypto
import LectureModel

/// Seals header fields with this device's key, which is read, or created, when the first field needs it.
final class DeviceFieldSeal: FieldSealing {
    private let home: @Sendable () throws(LectureError) -> DeviceHome
    private let vault = Guarded<FieldVault?>(nil)

    /// Creates the value; nothing is touched.
    ///
    /// - Parameter home: where the key is.
    init(_ home: @escaping @Sendable () throws(LectureError) -> DeviceHome) { self.home = home }

    var hasKey: Bool { (try? home())?.isInUse() ?? false }

    func seal(_ value: String, name: String) throws(LectureError) -> String {
        try ready(drawing: true).seal(value, name: name)
    }

    func open(_ text: String, name: String) throws(LectureError) -> String {
        try ready(drawing: false).open(text, name: name)
    }

    /// A new key opens nothing, so none is created for that.
    private func ready(drawing: Bool) throws(LectureError) -> FieldVault {
        if let made = vault.withLock({ $0 }) { return made }
        let home = try home()
        guard drawing || home.isInUse() else { throw LectureError(.headersSealed) }
        let made = try FieldVault(try home.key())
        vault.withLock { $0 = made }
        return made
    }
}
