import LectureFormats
package import LectureRecords
package import LectureServe

/// The lines about the server of a store. See ``JSONLine``.
extension JSONLine {
    /// The server answers.
    ///
    /// - Parameter url: its address.
    /// - Returns: the line.
    package static func serving(_ url: String) -> String {
        line { writer in
            writer.member("event", "serving")
            writer.member("url", url)
        }
    }

    /// A person or a program may use the server now.
    ///
    /// - Parameters:
    ///   - person: who.
    ///   - token: their token, which is nowhere else.
    /// - Returns: the line.
    package static func accessAdded(_ person: AccessFile.Person, token: String) -> String {
        line { writer in
            writer.member("event", "access_added")
            writer.member("name", person.name)
            writer.member("role", person.role)
            writer.member("token", token)
        }
    }

    /// A person or a program that may use the server.
    ///
    /// - Parameter person: who.
    /// - Returns: the line.
    package static func access(_ person: AccessFile.Person) -> String {
        line { writer in
            writer.member("record", "access")
            writer.member("name", person.name)
            writer.member("role", person.role)
        }
    }
}
