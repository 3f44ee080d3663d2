/// What a person or a program may do on the site.
package enum SiteRole: String, Sendable, Hashable, CaseIterable {
    /// Watch lectures in the classroom.
    case viewer
    /// Fetch lectures for another store.
    case peer
    /// See everything and change it.
    case `operator`

    /// Whether this role includes another one. An operator may do everything.
    ///
    /// - Parameter other: what is needed.
    /// - Returns: whether it is enough.
    package func includes(_ other: SiteRole) -> Bool { self == other || self == .operator }
}

/// A client that has proved who it is: a person in front of a browser, or a program.
package struct SitePerson: Sendable, Hashable {
    /// As in the access file, or in the signed link.
    package let name: String
    /// What they may do.
    package let role: SiteRole
    /// The key of the only lecture that they may watch, for one who came by a signed link; nil for all.
    package let lecture: String?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - name: as in the access file, or in the signed link.
    ///   - role: what they may do.
    ///   - lecture: the only lecture that they may watch; nil for all.
    package init(name: String, role: SiteRole, lecture: String? = nil) {
        (self.name, self.role, self.lecture) = (name, role, lecture)
    }
}
