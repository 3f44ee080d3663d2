/// A value and where it came from, for `store info`.
package struct Setting<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The effective value.
    package let value: Value
    /// Where it came from.
    package let origin: SettingOrigin

    /// Makes a setting.
    ///
    /// - Parameters:
    ///   - value: the effective value.
    ///   - origin: where it came from.
    package init(_ value: Value, _ origin: SettingOrigin) {
        self.value = value
        self.origin = origin
    }
}

/// Where a setting came from; each origin overrides those before it.
package enum SettingOrigin: String, Sendable {
    /// The default.
    case `default`
    /// The configuration file.
    case file
    /// An environment variable.
    case environment
    /// The command line.
    case option
}
