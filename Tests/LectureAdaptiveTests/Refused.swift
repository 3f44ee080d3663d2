import LectureAdaptive

/// Why a text is refused or a value cannot be written; nil when it is no error.
func refusal<Value>(_ work: () throws -> Value) -> PlaylistError? {
    do { _ = try work() } catch { return error as? PlaylistError }
    return nil
}
