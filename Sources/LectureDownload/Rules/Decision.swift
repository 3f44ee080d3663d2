/// What was decided about an ended transfer. The raw value is the word that the attempt's row keeps and that `why`
/// prints: it never changes (docs/schema.md lists the words).
package enum Decision: String, CaseIterable, Sendable {
    /// Nothing yet: an error of the store came first.
    case continued
    /// It belongs to work that has ended, or to a discarded version.
    case ended
    /// It was cancelled.
    case cancelled
    /// It received all that was requested.
    case done
    /// It received less than was requested, but gained bytes.
    case short
    /// It reached the chunk where another transfer takes over.
    case split
    /// The part file accepts no more.
    case disk
    /// The item is stopped, because there is no space for the body.
    case space
    /// The request is repeated without its condition, since the validator has changed under a known digest.
    case validator
    /// The same is tried again.
    case retry
    /// The same is tried again when the server's wait is over.
    case wait
    /// It is followed to another URL.
    case redirect
    /// Another URL of the same file is used.
    case mirror
    /// New URLs are requested.
    case renew
    /// The gateway has given new URLs of the same bytes.
    case renewed
    /// The gateway has described the lecture.
    case loaded
    /// The link leads to another known lecture.
    case merged
    /// The link is the media itself.
    case media
    /// The source of the licence is refused.
    case refused
    /// The version being built is discarded, and a new one starts.
    case restart
    /// The item or the resource has failed, or the item is stopped.
    case failed
}
