public import LectureModel

/// A file of an adaptive lecture: a segment, an initialisation section or a key.
public struct StreamFile: Sendable, Hashable {
    /// Its name, as the playlists have it: `12.ts`.
    public let name: String
    /// What it is.
    public let role: ResourceRole
    /// Its length in bytes.
    public let byteCount: Int64

    init(_ resource: ResourceRecord) {
        (name, role) = (resource.name, resource.role)
        byteCount = Int64(clamping: resource.total ?? 0)
    }
}
