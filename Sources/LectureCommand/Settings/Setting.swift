/// A value and where it came from, for `store info`.
package struct Setting<Value: Sendable & Equatable>: Sendable, Equatable {
    /// What holds.
    package let value: Value
    /// Where it came from.
    package let origin: SettingOrigin

    /// A value from somewhere.
    ///
    /// - Parameters:
    ///   - value: what holds.
    ///   - origin: where it came from.
    package init(_ value: Value, _ origin: SettingOrigin) {
        self.value = value
        self.origin = origin
    }
}

/// Where a setting came from; each one wins over those before it.
package enum SettingOrigin: String, Sendable {
    /// Nothing was said.
    case `default`
    /// The configuration file.
    case file
    /// An environment variable.
    case environment
    /// The command line.
    case option
}
