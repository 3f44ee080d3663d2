import LectureKit

/// How fast downloads may run, and when.
package struct PaceSettings: Sendable, Equatable {
    /// Bytes per second over all items; nil for no limit.
    package let rate: Setting<Int?>
    /// Rates by time of day; nil for none.
    package let timetable: Setting<String?>

    init(_ source: SettingSource, _ settings: ConfigurationFile) {
        rate = source.pick("limit-rate", { Quantity.rate($0).map { Int($0) } }, settings.rateLimit.map { $0 }, nil)
        timetable = source.pick("timetable", { $0 }, settings.timetable.map { $0 }, nil)
    }

    /// The settings by their names in the file.
    var descriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("network.limit_rate", rate.value.map { "\($0)" } ?? "", rate.origin),
            ("network.timetable", timetable.value ?? "", timetable.origin),
        ]
    }
}
