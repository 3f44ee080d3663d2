/// The wire format of reports for a target.
public enum ReportFormat: String, Sendable, CaseIterable {
    /// The channel's own method and parameter names, with the macros filled in.
    case kollus
    /// A POST with a batch of events as one JSON object.
    case json
    /// A POST of an array of xAPI 1.0.3 statements.
    case xapi
}
