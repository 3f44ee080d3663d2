import LectureFormats
internal import LectureModel

/// Who reports, and about which lecture: what is the same in all reports of a session.
package struct ReportSource: Hashable, Sendable {
    /// The customer's account.
    package var contentProviderKey = ""
    /// This installation.
    package var playerID = ""
    /// This machine. Neither a MAC nor an IP address.
    package var hardwareID = ""
    /// The domain of the video link.
    package var hostName = ""
    /// The name of the device, with its system.
    package var device = ""
    /// Which encoding is played.
    package var encodingProfile = ""
    /// The lecture.
    package var mediaContentKey = ""
    /// The channel.
    package var channelKey = ""
    /// What the LMS passed with the link, by name.
    package var userValues: [String: String] = [:]

    /// Makes a source with all fields empty.
    package init() {}

    /// The values of the user as a JSON object, by name.
    package var userValuesJSON: String { JSONWriter.object { writeUserValues(to: &$0) } }

    /// Writes the members of `uservalues`, sorted: the same report always has the same bytes.
    func writeUserValues(to writer: inout JSONWriter) {
        for (name, value) in userValues.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
    }
}
