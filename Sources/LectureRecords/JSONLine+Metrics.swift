package import LectureFormats

extension JSONLine {
    /// A figure for monitoring.
    ///
    /// - Parameters:
    ///   - name: of its family.
    ///   - sample: its labels and its value; a time is in seconds.
    /// - Returns: the line.
    package static func metric(_ name: String, _ sample: MetricFamily.Sample) -> String {
        line { writer in
            writer.member("record", "metric")
            writer.member("name", name)
            writer.object("labels") { writer in
                for label in sample.labels { writer.member(label.name, label.value) }
            }
            switch sample.value {
            case .integer(let number): writer.member("value", number)
            case .milliseconds(let number): writer.member("value", Double(number) / 1000)
            }
        }
    }
}
