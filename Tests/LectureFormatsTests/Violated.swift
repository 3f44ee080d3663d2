import LectureFormats

/// The rule that a text violates; nil when it is read.
func violated<Value>(_ read: () throws -> Value) -> FormatError.Kind? {
    do { _ = try read() } catch { return (error as? FormatError)?.kind }
    return nil
}
