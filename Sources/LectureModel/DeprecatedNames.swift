// Public names of the last release. Each is removed in the release after the one that deprecates it.

/// The former name of ``TargetState``.
@available(*, deprecated, renamed: "TargetState")
public typealias Desire = TargetState

extension Content {
    /// The former name of ``committedBytes``.
    @available(*, deprecated, renamed: "committedBytes")
    public var provenBytes: Int64 {
        get { committedBytes }
        set { committedBytes = newValue }
    }

    /// The former name of ``committedChunks``.
    @available(*, deprecated, renamed: "committedChunks")
    public var provenChunks: Int {
        get { committedChunks }
        set { committedChunks = newValue }
    }
}

extension StoreStatus {
    /// The former name of ``committedBytes``.
    @available(*, deprecated, renamed: "committedBytes")
    public var provenBytes: Int64 {
        get { committedBytes }
        set { committedBytes = newValue }
    }
}

extension DownloadProgress {
    /// The former name of ``committedChunks``.
    @available(*, deprecated, renamed: "committedChunks")
    public var provenChunks: Int {
        get { committedChunks }
        set { committedChunks = newValue }
    }
}
