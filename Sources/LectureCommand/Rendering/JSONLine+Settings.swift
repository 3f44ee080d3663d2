import LectureFormats
package import LectureRecords

extension JSONLine {
    /// A setting.
    ///
    /// - Parameter setting: with its place.
    /// - Returns: the line.
    package static func setting(_ setting: SettingPlace) -> String {
        line { writer in
            writer.member("record", "setting")
            writer.member("name", setting.name)
            writer.member("value", setting.value)
            writer.member("origin", setting.origin.rawValue)
            if let source = setting.source { writer.member("source", source) }
        }
    }
}
